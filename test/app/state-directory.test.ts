import { tmpdir } from 'node:os';
import { expect, test } from 'vitest';
import { findNetworkDisk, networkName } from '../../src/app/state-directory.ts';

test('a state directory that a network shares is known by the type of its file system', () => {
  const [nfs, cifs, ext4, tmpfs] = [0x6969, 0xff534d42, 0xef53, 0x01021994];
  expect([nfs, cifs, ext4, tmpfs].map(networkName)).toEqual(['NFS', 'CIFS', undefined, undefined]);
  expect(findNetworkDisk(tmpdir())).toBeUndefined();
});
