import { closeSync, existsSync, openSync, readdirSync, readSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { explainError } from '../../core/errors.ts';
import type { Subject } from '../../core/subject.ts';
import { connect } from '../../sqlite/connection.ts';
import { isOwnFile } from '../../sqlite/private-files.ts';
import { openSubjectStore } from '../../sqlite/subject.ts';

/** What became of the copies of a mirror, by their names. */
export interface ErasedCopies {
  readonly erased: readonly string[];
  /** Those that are no SQLite files, or cannot be written, with the reason. */
  readonly failed: readonly { readonly name: string; readonly reason: string }[];
}

/** Takes a person out of all copies of the mirror in `backups/` of the state directory. `isPresent` says of which records the CRM has now. */
export function eraseFromCopies(
  directory: string,
  subject: Subject,
  isPresent: (key: string) => boolean,
): ErasedCopies {
  const backups = join(directory, 'backups');
  const names = existsSync(backups) ? readdirSync(backups) : [];
  const erased: string[] = [];
  const failed: { name: string; reason: string }[] = [];
  for (const name of names.filter((each) => /\.db(\.unfinished)?$/.test(each)))
    try {
      if (name.endsWith('.db')) eraseFromCopy(join(backups, name), subject, isPresent);
      else rmSync(join(backups, name));
      erased.push(name);
    } catch (error) {
      // Whatever is wrong with one copy, the others are erased from.
      failed.push({ name, reason: explainError(error) });
    }
  return { erased, failed };
}

function eraseFromCopy(file: string, { email, keys }: Subject, isPresent: (key: string) => boolean): void {
  const copy = connect(file);
  try {
    copy.setSetting('secure_delete', 'ON');
    const store = openSubjectStore(copy);
    // It may know of records that the mirror has forgotten. What the CRM has now is the person's own only by what it holds now.
    const subject = store.meet(keys, email, isPresent);
    store.erase(subject, store.rows(subject), []);
  } finally {
    copy.close();
  }
}

const windowBytes = 4 * 1024 * 1024;

/**
 * The files that others put into the state directory and that say one of the texts, in capitals or not; and those that cannot be read, which may
 * say anything.
 */
export function foreignFilesSaying(directory: string, texts: readonly string[]): readonly string[] {
  return filesBelow(directory, '').filter((path) => {
    // The rows of these are looked through.
    if (isOwnFile(path)) return false;
    try {
      return saysAny(join(directory, path), texts);
    } catch {
      return true;
    }
  });
}

/** Paths below a directory; of a directory that cannot be read its own. */
function filesBelow(directory: string, below: string): readonly string[] {
  try {
    return readdirSync(join(directory, below), { withFileTypes: true }).flatMap((entry) => {
      const path = join(below, entry.name);
      if (entry.isDirectory()) return filesBelow(directory, path);
      return entry.isFile() ? [path] : [];
    });
  } catch {
    return [below];
  }
}

function saysAny(file: string, texts: readonly string[]): boolean {
  // One sign for each byte: a window may end anywhere.
  const lowerOf = (bytes: Buffer) => bytes.toString('latin1').toLowerCase();
  const wanted = texts.map((text) => lowerOf(Buffer.from(text)));
  const overlap = Math.max(0, ...wanted.map(({ length }) => length));
  const window = Buffer.alloc(windowBytes + overlap);
  const descriptor = openSync(file, 'r');
  try {
    for (let at = 0; ; at += windowBytes) {
      const length = readSync(descriptor, window, 0, window.length, at);
      const read = lowerOf(window.subarray(0, length));
      if (wanted.some((text) => read.includes(text))) return true;
      if (length < window.length) return false;
    }
  } finally {
    closeSync(descriptor);
  }
}
