import { readFileSync } from 'node:fs';
import { userInfo } from 'node:os';

/** Who a program runs as. */
export interface Account {
  readonly uid: number;
  readonly gid: number;
}

const namesInOrder = ['postgres', 'nobody'];

/** The account that a server of ours runs under: PostgreSQL refuses root. `undefined` keeps that of this process. */
export function serverAccount(): Account | undefined {
  if (userInfo().uid !== 0) return undefined;
  const known = new Map(
    readFileSync('/etc/passwd', 'utf8')
      .split('\n')
      .map((line) => line.split(':'))
      .map(([name, , uid, gid]) => [name, { uid: Number(uid), gid: Number(gid) }]),
  );
  const found = namesInOrder.map((name) => known.get(name)).find((account) => account !== undefined);
  if (!found) {
    throw new Error('PostgreSQL refuses to run as root, and there is neither a user postgres nor nobody.');
  }
  return found;
}
