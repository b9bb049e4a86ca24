/** Names under which a machine reaches itself, and the host of a container's sandbox on the same machine. */
const loopback = new Set([
  'localhost',
  '127.0.0.1',
  '[::1]',
  'host.docker.internal',
  'host.containers.internal',
]);

/** To a URL, `localhost:4010` is a scheme and a path: the message says what it lacks. */
export const unsafeUrl = 'must begin with https://, or with http:// where it is on this machine';

export function isSafeUrl(text: string): boolean {
  const { protocol, hostname } = new URL(text);
  return protocol === 'https:' || (protocol === 'http:' && loopback.has(hostname));
}

/**
 * Whether an address would carry its password through a network where others may listen. A name of one word is a neighbour in the network of
 * the containers of one machine.
 */
export function tellsPassword(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { hostname, password } = new URL(text);
  const isNear =
    hostname === '' || loopback.has(hostname) || /^(127\.[\d.]+|[a-z][a-z0-9_-]*)$/i.test(hostname);
  return password !== '' && !isNear;
}

export const moreThanPlace = 'must end with its path, and have no login in it: the key alone logs in';

/** Paths are written behind it, a login would be sent instead of the key, and as the owner of the mirror it is kept there. */
export function isPlaceAlone(text: string): boolean {
  const { hash, password, search, username } = new URL(text);
  return `${username}${password}${search}${hash}` === '';
}

/** The text without the login of any address in it. */
export const hideLogins = (text: string): string =>
  text.replace(/\b([a-z][a-z0-9+.-]*:\/\/)[^\s/@"']+@/gi, '$1(a login)@');
