import { describe, expect, it } from 'vitest';
import { type Cell, emptyCell, numberCell, textCell } from '../../src/sheet/port/cell.ts';
import type { ObservedRow, ObservedTab, ObservedTable } from '../../src/sheet/port/table.ts';
import {
  emptyMemory,
  type FirstLooks,
  keepOpen,
  type Memory,
  noteChanges,
  remember,
} from '../../src/sheet/rest.ts';

const typingPauseMs = 2_000;

const rowAt = (id: Cell, title: string): ObservedRow => ({
  position: 1,
  id,
  sync: emptyCell,
  cells: { title: textCell(title) },
});

function tableOf(rows: readonly ObservedRow[]): ObservedTable {
  const held: ObservedTab = { state: 'held', reason: 'not of this test' };
  const lead: ObservedTab = { state: 'read', rows, fields: new Set(['title']), hasSync: true };
  return { tabs: { lead, opportunity: held, task: held, contact: held }, timeZone: 'UTC' };
}

/** Looks at a row at the given times, and returns since when its change may have been there, as is known after the last one. */
function sinceAfter(reads: readonly (readonly [at: number, row: ObservedRow])[], outbound = ''): unknown[] {
  let memory: Memory = emptyMemory;
  let looks: FirstLooks = new Map();
  let readFrom: number | undefined;
  for (const [at, row] of reads) {
    memory = remember(memory, tableOf([row]), at, typingPauseMs);
    looks = noteChanges(looks, memory, readFrom);
    looks = keepOpen(looks, memory, undefined, { isOutbound: (name) => name === outbound, typingPauseMs });
    readFrom = at;
  }
  return [...looks].map(([name, { before }]) => [name, before]);
}

const id = numberCell(1);

describe('since when an edit may have been in the sheet', () => {
  it('is the last look that did not have it, for as long as its row changes and while it waits to be sent', () => {
    const typing = [
      [0, rowAt(id, 'Acme')],
      [5_000, rowAt(id, 'Acme')],
      [10_000, rowAt(id, 'Acme G')],
      [11_000, rowAt(id, 'Acme GmbH')],
    ] as const;
    expect(sinceAfter(typing)).toEqual([['lead-1', 5_000]]);
    const rested = [...typing, [20_000, rowAt(id, 'Acme GmbH')]] as const;
    expect(sinceAfter(rested, 'lead-1')).toEqual([['lead-1', 5_000]]);
  });

  it('is forgotten once the row rests and nothing waits, as where a person has to answer first', () => {
    const reads = [
      [0, rowAt(id, 'Acme')],
      [5_000, rowAt(id, 'Acme GmbH')],
      [10_000, rowAt(id, 'Acme GmbH')],
    ] as const;
    expect(sinceAfter(reads)).toEqual([]);
  });

  it('is not known of what the first look found', () => {
    expect(sinceAfter([[0, rowAt(id, 'Acme')]])).toEqual([]);
  });

  it('is for a row without an ID the last look before its last change', () => {
    const reads = [
      [0, rowAt(emptyCell, '')],
      [5_000, rowAt(emptyCell, 'No')],
      [9_000, rowAt(emptyCell, 'Nova')],
      [20_000, rowAt(emptyCell, 'Nova')],
    ] as const;
    expect(sinceAfter(reads)).toEqual([[expect.stringContaining('Nova'), 5_000]]);
  });
});
