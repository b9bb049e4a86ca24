import { statfsSync } from 'node:fs';
import process from 'node:process';

/** Of file systems that are shared over a network: https://man7.org/linux/man-pages/man2/statfs.2.html */
const networkTypes: ReadonlyMap<number, string> = new Map([
  [0x6969, 'NFS'],
  [0x517b, 'SMB'],
  [0xff534d42, 'CIFS'],
  [0xfe534d42, 'SMB2'],
  [0x01021997, '9p'],
  [0x5346414f, 'AFS'],
  [0x00c36400, 'Ceph'],
]);

/** What to do about a state directory on such a file system. */
export const networkDiskAdvice =
  'Move STATE_DIR to a disk of this machine: SQLite can not rely on locks over a network.';

/** The name of the network file system of that type, or nothing for any other. */
export const networkName = (type: number): string | undefined => networkTypes.get(type);

/** The network file system that the directory is on, or nothing where it is on a disk or nobody can tell. */
export const findNetworkDisk = (directory: string): string | undefined =>
  process.platform === 'linux' ? networkName(statfsSync(directory).type) : undefined;

/** What to do about a state directory that other users of the machine can reach. */
export const privateStateAdvice =
  'Give STATE_DIR to the user that runs the daemon, or name a directory of its own: it holds what customers told the CRM.';
