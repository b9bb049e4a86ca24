/** Variables of the environment by their names. */
type Environment = Readonly<Record<string, string | undefined>>;

/** Finds the proxy that a request to an address goes through; `undefined` where it goes straight there. */
export type FindProxy = (url: URL) => URL | undefined;

/** What is wrong with the proxies that the environment names, in words. */
export const findProxyFaults = (environment: Environment): string[] =>
  ['HTTPS_PROXY', 'HTTP_PROXY'].flatMap((name) => {
    const text = environment[name] || environment[name.toLowerCase()];
    // Its password is not repeated.
    return text && !readProxy(text) ? [`${name}: must be an address such as http://proxy.example:3128`] : [];
  });

function readProxy(text: string): URL | undefined {
  const url = URL.parse(text.includes('://') ? text : `http://${text}`);
  if (!url || !/^https?:$/.test(url.protocol) || !isDecodable(`${url.username}${url.password}`))
    return undefined;
  return url;
}

function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}

/**
 * Goes by HTTPS_PROXY, HTTP_PROXY and NO_PROXY, also in lower-case letters; ranges of addresses are not understood there. What runs on this machine is never asked through a
 * proxy, whatever they say.
 */
export function proxyFinder(environment: Environment): FindProxy {
  const read = (name: string) => environment[name] || environment[name.toLowerCase()] || undefined;
  const exceptions = (read('NO_PROXY') ?? '').split(/[\s,]+/).filter((part) => part !== '');
  return (url) => {
    const text = read(url.protocol === 'https:' ? 'HTTPS_PROXY' : 'HTTP_PROXY');
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
