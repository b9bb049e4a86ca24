import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach } from 'vitest';
import type { OpenWrite } from '../../src/core/open-write.ts';
import type { RecordKey } from '../../src/core/record.ts';
import type { OutboxItem, StoredRecord } from '../../src/core/state.ts';
import { emptyCell, textCell } from '../../src/sheet/port/cell.ts';
import type { Suspect } from '../../src/sheet/port/damage.ts';
import { type OpenMirror, openMirror } from '../../src/sqlite/open.ts';

export const lead = (id: string): RecordKey => ({ entity: 'lead', id });

export const storedRecord = (key: RecordKey, change: Partial<StoredRecord> = {}): StoredRecord => ({
  key,
  fields: { title: 'Größe – 東京', value: 12.5, isHot: false, note: null, tags: ['a', 'b'] },
  observedAt: 1_790_000_000_000,
  firstSeenAt: 1_780_000_000_000,
  lastSeenAt: 1_790_000_000_001,
  missedSweeps: 0,
  presence: 'present',
  ...change,
});

export const outboxItem = (key: RecordKey, change: Partial<OutboxItem> = {}): OutboxItem => ({
  key,
  kind: 'update',
  state: 'waiting',
  fields: { title: 'New' },
  base: { title: 'Old' },
  notice: '',
  run: 'run-1',
  createdAt: 1_790_000_000_000,
  dueAt: 1_790_000_000_000,
  attempts: 0,
  looks: 0,
  ...change,
});

/** A write of which no reply is known. */
export const openWrite = (change: Partial<OpenWrite> = {}): OpenWrite => ({
  id: 'w1',
  at: 1,
  settlesAt: 2,
  receipt: 'receipt',
  confirms: [[0, { key: lead('1'), offers: { title: 'Written' }, notice: '' }]],
  tokens: [],
  damage: [],
  ...change,
});

/** A title that a write put into the row of lead 1 by mistake. */
export const suspect = (change: Partial<Suspect> = {}): Suspect => ({
  id: 'w1.0',
  at: 1,
  damage: {
    entity: 'lead',
    kind: 'overwritten',
    id: textCell('1'),
    cells: { title: { written: textCell('Written'), before: textCell('Was there') } },
    own: { Mine: { written: emptyCell, before: textCell('Own') } },
  },
  state: 'escalated',
  clearReads: 0,
  ...change,
});

/** What the work throws, else what it answers. */
export const failure = (work: () => unknown): unknown => {
  try {
    return work();
  } catch (error) {
    return error;
  }
};

/** A directory for mirrors that is empty when a test of the file begins; what is open in it when the test ends is closed. */
export function openMirrorDirectory(parent = tmpdir()) {
  const directory = join(parent, `mirror-${randomUUID()}`);
  const opened: OpenMirror[] = [];

  const open = (): OpenMirror => {
    const one = openMirror({ directory });
    opened.push(one);
    return one;
  };
  const close = (): void => {
    for (const { mirror } of opened.splice(0)) mirror.close();
  };
  const reopen = (): OpenMirror => {
    close();
    return open();
  };
  /** Another process that opens the mirror and writes to it for ever. The shell's `under` may limit what it may do. */
  const startWriter = (under = 'exec "$@"') => {
    const script = new URL('mirror-writer.ts', import.meta.url).pathname;
    const command = ['-c', under, 'sh', process.execPath, script, directory];
    const process_ = spawn('sh', command, { stdio: ['ignore', 'pipe', 'inherit'] });
    return { process: process_, lines: createInterface(process_.stdout), ended: once(process_, 'exit') };
  };

  beforeEach(() => {
    mkdirSync(directory);
  });
  afterEach(() => {
    close();
    rmSync(directory, { recursive: true });
  });
  return { directory, opened, open, close, reopen, startWriter };
}
