import { closeSync, existsSync, openSync, readdirSync, readSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { isSyncError } from '../../core/errors.ts';
import type { Subject } from '../../core/subject.ts';
import { connect } from '../../sqlite/connection.ts';
import { openSubjectStore } from '../../sqlite/subject.ts';

/** What became of the copies of a mirror, by their names. */
export interface ErasedCopies {
  readonly erased: readonly string[];
  /** What no SQLite file is, or cannot be written, with the reason. */
  readonly failed: readonly { readonly name: string; readonly reason: string }[];
}

/** Takes a person out of all copies of the mirror in `backups/` of the state directory. */
export function eraseFromCopies(directory: string, subject: Subject): ErasedCopies {
  const backups = join(directory, 'backups');
  const names = existsSync(backups) ? readdirSync(backups) : [];
  const erased: string[] = [];
  const failed: { name: string; reason: string }[] = [];
  for (const name of names.filter((each) => each.endsWith('.unfinished'))) rmSync(join(backups, name));
  for (const name of names.filter((each) => each.endsWith('.db')))
    try {
      eraseFromCopy(join(backups, name), subject);
      erased.push(name);
    } catch (error) {
      if (!isSyncError(error)) throw error;
      failed.push({ name, reason: error.message });
    }
  return { erased, failed };
}

function eraseFromCopy(file: string, { email, keys }: Subject): void {
  const copy = connect(file);
  try {
    copy.setSetting('secure_delete', 'ON');
    const store = openSubjectStore(copy);
    // It may know of records that the mirror has forgotten.
    const subject = store.meet(keys, email);
    store.erase(subject, store.rows(subject), 'withWrites');
  } finally {
    copy.close();
  }
}

const windowBytes = 4 * 1024 * 1024;

/** The files of the state directory, with those below it, that hold one of the texts as bytes. */
export function filesSaying(directory: string, texts: readonly string[]): readonly string[] {
  const files = readdirSync(directory, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
  return files.filter((file) =>
    saysAny(
      file,
      texts.map((text) => Buffer.from(text)),
    ),
  );
}

function saysAny(file: string, texts: readonly Buffer[]): boolean {
  const overlap = Math.max(0, ...texts.map(({ length }) => length));
  const window = Buffer.alloc(windowBytes + overlap);
  const descriptor = openSync(file, 'r');
  try {
    for (let at = 0; ; at += windowBytes) {
      const length = readSync(descriptor, window, 0, window.length, at);
      if (texts.some((text) => window.subarray(0, length).includes(text))) return true;
      if (length < window.length) return false;
    }
  } finally {
    closeSync(descriptor);
  }
}
