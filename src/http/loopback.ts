import { BlockList, isIP } from 'node:net';

const ownAddresses = new BlockList();
ownAddresses.addSubnet('127.0.0.0', 8, 'ipv4');
ownAddresses.addAddress('::1', 'ipv6');

/** True if only this machine reaches what listens there. A name other than `localhost` may lead to any address, so it does not count. */
export const isLoopback = (host: string): boolean =>
  host === 'localhost' || (isIP(host) !== 0 && ownAddresses.check(host, isIP(host) === 6 ? 'ipv6' : 'ipv4'));
