import { describe, expect, it } from 'vitest';
import { type Cell, emptyCell, numberCell, textCell } from '../../src/sheet/port/cell.ts';
import type { ObservedRow, ObservedTab, ObservedTable } from '../../src/sheet/port/table.ts';
import { emptyMemory, isRestless, type Memory, remember } from '../../src/sheet/rest.ts';

const pauseMs = 2_000;

const row = (position: number, id: Cell, title: string): ObservedRow => ({
  position,
  id,
  sync: emptyCell,
  cells: { title: textCell(title) },
});

function tableOf(rows: readonly ObservedRow[]): ObservedTable {
  const held: ObservedTab = { state: 'held', reason: 'not of this test' };
  const lead: ObservedTab = { state: 'read', rows, fields: new Set(['title']), hasSync: true };
  return { tabs: { lead, opportunity: held, task: held, contact: held }, timeZone: 'UTC' };
}

/** Reads the tab at the given times; answers which rows of the last read are restless. */
function restlessAfter(...reads: readonly (readonly [at: number, ...rows: ObservedRow[]])[]): boolean[] {
  let memory: Memory = emptyMemory;
  for (const [at, ...rows] of reads) memory = remember(memory, tableOf(rows), at, pauseMs);
  const last = reads.at(-1)?.slice(1) as ObservedRow[];
  return last.map((each) => isRestless(memory, pauseMs, 'lead', each));
}

const [one, two] = [numberCell(1), numberCell(2)];

describe('a row rests', () => {
  it('when two reads a typing pause apart showed the same, and not before', () => {
    const acme = row(1, one, 'Acme');
    expect(restlessAfter([0, acme])).toEqual([true]);
    expect(restlessAfter([0, acme], [1_999, acme])).toEqual([true]);
    expect(restlessAfter([0, acme], [2_000, acme])).toEqual([false]);
    expect(restlessAfter([0, acme], [1_000, acme], [2_000, acme])).toEqual([false]);
  });

  it('also when it moves', () => {
    expect(restlessAfter([0, row(1, one, 'Acme')], [2_000, row(7, one, 'Acme')])).toEqual([false]);
  });

  it('not while it goes on changing, and anew when what was typed is taken back', () => {
    const [acme, typed] = [row(1, one, 'Acme'), row(1, one, 'Acme G')];
    expect(restlessAfter([0, acme], [2_000, typed], [4_000, row(1, one, 'Acme GmbH')])).toEqual([true]);
    expect(restlessAfter([0, acme], [2_000, typed], [4_000, acme])).toEqual([true]);
    expect(restlessAfter([0, acme], [2_000, typed], [4_000, acme], [6_000, acme])).toEqual([false]);
  });

  it('whatever happens in another row, with the same ID or without', () => {
    const [original, copy] = [row(1, one, 'Acme'), row(2, one, 'Acme copy')];
    expect(restlessAfter([0, original, copy], [2_000, original, copy])).toEqual([false, false]);
    expect(restlessAfter([0, original, copy], [2_000, row(1, one, 'Acme GmbH'), copy])).toEqual([
      true,
      false,
    ]);
    expect(restlessAfter([0, copy, original], [2_000, row(2, one, 'x'), original])).toEqual([true, false]);
    const [unbound, other] = [row(3, emptyCell, 'New'), row(4, two, 'Beta')];
    expect(restlessAfter([0, unbound, other], [2_000, unbound, row(4, two, 'Be')])).toEqual([false, true]);
  });

  it('anew when its ID changed', () => {
    expect(restlessAfter([0, row(1, one, 'Acme')], [2_000, row(1, two, 'Acme')])).toEqual([true]);
  });
});
