/** What a daemon that listens on every address of a kind is reached at from this machine itself. */
const ownAddresses: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' };

/** Where the daemon answers that listens on this host and port; in an address IPv6 stands in brackets. */
export function daemonOrigin(host: string, port: number): string {
  const own = ownAddresses[host] ?? host;
  return `http://${own.includes(':') ? `[${own}]` : own}:${port}`;
}
