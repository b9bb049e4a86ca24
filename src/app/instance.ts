import { randomBytes } from 'node:crypto';
import { readFileSync, readlinkSync, statSync } from 'node:fs';
import { hostname } from 'node:os';
import process from 'node:process';
import type { Instance, OwnInstance } from '../sheet/port/instance.ts';
import { shortHash } from './short-hash.ts';

export interface InstanceOptions {
  /** Epoch ms. */
  readonly now: number;
  /** A file that this process has locked for the link. */
  readonly lockedFile: string;
  /** Names what gives leases of the link; absent where nothing does. */
  readonly board?: string | undefined;
}

/** Those of this process that were not closed yet, by their ids. */
const running = new Set<string>();

/** A new instance for a link that is opened. Once closed, it writes nothing. */
export function openInstance({ board, lockedFile, now }: InstanceOptions): OwnInstance & { close(): void } {
  const own = nameProcess(process.pid);
  const locks = [nameFile(lockedFile), board].filter((name) => name !== undefined);
  const instance: Instance = {
    id: randomBytes(8).toString('hex'),
    host: hostname().replace(/[^\w.:-]/g, '-') || 'unknown',
    pid: process.pid,
    since: Math.floor(now),
    ...(own === undefined ? {} : { process: own }),
    ...(locks.length === 0 ? {} : { locks }),
  };
  running.add(instance.id);
  const isLockedOut = ({ locks: others = [] }: Instance) => others.some((name) => locks.includes(name));
  return {
    instance,
    close: () => void running.delete(instance.id),
    isOver: (other) => !running.has(other.id) && (isLockedOut(other) || isEnded(other, own)),
  };
}

/** Whether the process of the other has ended, or is this one and has closed it. False where that cannot be known here. */
function isEnded({ pid, process: other }: Instance, own: string | undefined): boolean {
  if (other === undefined || own === undefined || placeOf(other) !== placeOf(own)) return false;
  if (other === own) return true;
  const found = nameProcess(pid);
  // One that cannot be looked at may run under another account.
  return found === undefined ? !isThere(pid) : found !== other;
}

function isThere(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return !(error instanceof Error && 'code' in error && error.code === 'ESRCH');
  }
}

/** Everything but the moment in which the process began. */
const placeOf = (name: string): string => name.slice(0, name.lastIndexOf('-'));

/** A process that has ended and was not taken note of yet. */
const ended = 'ended';

/**
 * Names a process so that no other ever has the same name: by the run of the machine, the namespace in which its number counts, and when it
 * began. `undefined` where that cannot be known, for example on another system than Linux.
 */
function nameProcess(pid: number): string | undefined {
  return unlessMissing(() => {
    const place = shortHash(`${hostname()} ${bootId()} ${readlinkSync('/proc/self/ns/pid')}`);
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name of the program, in parentheses, may hold anything: https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html
    const [state, ...fields] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const began = fields[18];
    if (began === undefined) return undefined;
    return `${place}-${state === 'Z' || state === 'X' ? ended : began}`;
  });
}

/** Names a file so that no copy of it, and no file of another machine, has the same name. */
const nameFile = (file: string): string | undefined =>
  unlessMissing(() => {
    const { dev, ino } = statSync(file);
    return shortHash(`${bootId()} ${dev} ${ino}`);
  });

const bootId = (): string => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();

function unlessMissing<Found>(look: () => Found): Found | undefined {
  try {
    return look();
  } catch (error) {
    if (error instanceof Error && 'code' in error) return undefined;
    throw error;
  }
}
