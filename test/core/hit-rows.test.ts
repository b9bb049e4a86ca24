import { describe, expect, it } from 'vitest';
import { type Cell, emptyCell, textCell } from '../../src/core/cell.ts';
import { decide } from '../../src/core/decide/decide.ts';
import { blankCells } from '../../src/core/decide/hit-rows.ts';
import type { OpenWrite } from '../../src/core/open-write.ts';
import type { OwnRow } from '../../src/core/table.ts';
import { fieldsOf, inputOf, readSheet } from '../support/world.ts';
import { worldWithLeads } from '../support/world-daemon.ts';

const word = textCell('Pending: waiting to be sent to the CRM');
const ownRow = (position: number, ...cells: readonly Cell[]): OwnRow => ({ position, cells });

/** A write that put our word into the column “Mine” of a row at this position, where nothing else stood. */
function hitBlankRow(position: number, fields: Iterable<string>): OpenWrite {
  const place = { row: 5, headers: ['ID', 'Mine'], columns: {}, cells: [] };
  const kept = { id: emptyCell, sync: emptyCell, cells: blankCells(fields), place };
  const others = [{ column: 1, written: word }];
  const set = { entity: 'lead', position, slot: 0, idSeen: emptyCell, cells: {}, kept, others } as const;
  return {
    id: 'w1!',
    at: 0,
    outcome: 'answered',
    settlesAt: 1,
    keeping: { run: 'w1', from: 0 },
    height: 6,
    places: {},
    sets: [set],
    deletes: [],
    appends: [],
  };
}

/** In which rows it is mended, with two leads in the first rows. */
function mendedRows(position: number, ownRows: readonly OwnRow[]) {
  const world = worldWithLeads(['Acme', 'Beta']);
  const names = fieldsOf(world, 'lead').map(({ name }) => name);
  world.openWrites.set('w1!', hitBlankRow(position, names));
  const table = readSheet(world);
  const lead = { ...table.tabs.lead, ownRows };
  const { table: steps } = decide(inputOf(world, { ...table, tabs: { ...table.tabs, lead } }));
  return steps.map(({ write }) => (write.kind === 'set' ? [write.position, write.others?.length] : write));
}

describe('S13: an own cell of a blank row that a write reached', () => {
  it('is mended where a sort has put the row since, and not in a row of a record that stands in its place', () => {
    expect(mendedRows(2, [ownRow(3, textCell('R9')), ownRow(4, emptyCell, word)])).toEqual([[4, 1]]);
  });

  it('is mended in the row that is nearest to where it was, if several show the word', () => {
    expect(
      mendedRows(
        7,
        [4, 6, 9].map((position) => ownRow(position, word)),
      ),
    ).toEqual([[6, 1]]);
  });
});
