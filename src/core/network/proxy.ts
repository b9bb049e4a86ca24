import { isReadable } from '../text/readable-url.ts';

/** Variables of the environment by their names. */
type Environment = Readonly<Record<string, string | undefined>>;

/** Finds the proxy that a request to an address goes through; `undefined` where it goes straight there. */
export type FindProxy = (url: URL) => URL | undefined;

/** Returns a variable, whose name may also be in lower-case letters. */
const read = (environment: Environment, name: string): string | undefined =>
  environment[name] || environment[name.toLowerCase()] || undefined;

/** Says what is wrong with the proxies that the environment names. */
export const findProxyFaults = (environment: Environment): string[] =>
  ['HTTPS_PROXY', 'HTTP_PROXY'].flatMap((name) => {
    const text = read(environment, name);
    // It may hold a password, so it is not repeated.
    return text && !readProxy(text) ? [`${name}: must be an address such as http://proxy.example:3128`] : [];
  });

function readProxy(text: string): URL | undefined {
  const address = text.includes('://') ? text : `http://${text}`;
  return /^https?:/i.test(address) && isReadable(address) ? new URL(address) : undefined;
}

/**
 * Finds proxies by HTTPS_PROXY, HTTP_PROXY and NO_PROXY, without ranges of addresses in NO_PROXY. What runs on this machine is never reached
 * through a proxy, whatever they say.
 */
export function proxyFinder(environment: Environment): FindProxy {
  const exceptions = (read(environment, 'NO_PROXY') ?? '').split(/[\s,]+/).filter((part) => part !== '');
  return (url) => {
    const text = read(environment, url.protocol === 'https:' ? 'HTTPS_PROXY' : 'HTTP_PROXY');
    if (text === undefined || isOfThisMachine(url.hostname)) return undefined;
    if (exceptions.some((exception) => isException(url, exception))) return undefined;
    return readProxy(text);
  };
}

const isOfThisMachine = (hostname: string): boolean =>
  hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d+){3}$/.test(hostname);

/** `*` is everything, `example.com` a host with all below it; a port makes it that one alone. */
function isException({ hostname, port, protocol }: URL, exception: string): boolean {
  if (exception === '*') return true;
  const [, name = '', onlyPort] = /^(?:\*?\.)?(.+?)(?::(\d+))?$/.exec(exception.toLowerCase()) ?? [];
  const own = port || (protocol === 'https:' ? '443' : '80');
  return (hostname === name || hostname.endsWith(`.${name}`)) && (onlyPort ?? own) === own;
}
