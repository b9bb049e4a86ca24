import { describe, expect, it } from 'vitest';
import { booleanCell, type Cell, emptyCell, textCell } from '../../src/core/cell.ts';
import { decide } from '../../src/core/decide/decide.ts';
import { blankCells } from '../../src/core/decide/hit-rows.ts';
import type { OpenWrite, SentSet } from '../../src/core/open-write.ts';
import type { OwnRow } from '../../src/core/table.ts';
import { keptRow, openWrite, place, setTo } from '../support/open-writes.ts';
import { copyRow, fieldsOf, inputOf, leadKey, readSheet, rowOf, type World } from '../support/world.ts';
import { worldWithLeads } from '../support/world-daemon.ts';

const word = textCell('Pending: waiting to be sent to the CRM');
const ownRow = (position: number, ...cells: readonly Cell[]): OwnRow => ({ position, cells });

/** A write that put our word into the column “Mine” of a row at this position, where nothing else stood. */
function hitBlankRow(position: number, fields: Iterable<string>, cells: SentSet['cells'] = {}): OpenWrite {
  const kept = {
    ...keptRow(emptyCell, blankCells(fields)),
    place: { ...place, headers: ['ID', 'Mine'], columns: {} },
  };
  const others = [{ column: 1, written: word }];
  const set = { entity: 'lead', position, slot: 0, idSeen: emptyCell, cells, kept, others } as const;
  return { ...openWrite({ outcome: 'answered', sets: [set] }), id: 'w1!' };
}

function planAfter(world: World, sent: SentSet) {
  world.openWrites.set('w1!', { ...openWrite({ outcome: 'answered', sets: [sent] }), id: 'w1!' });
  return decide(inputOf(world, readSheet(world)));
}

/** The rows that are mended, and how, after a write of which this is left. */
const stepsAfter = (world: World, sent: SentSet) => planAfter(world, sent).table.map(({ write }) => write);

/** In which rows it is mended, with two leads in the first rows. */
function mendedRows(position: number, ownRows: readonly OwnRow[], cells?: SentSet['cells']) {
  const world = worldWithLeads(['Acme', 'Beta']);
  const names = fieldsOf(world, 'lead').map(({ name }) => name);
  world.openWrites.set('w1!', hitBlankRow(position, names, cells));
  const table = readSheet(world);
  const lead = { ...table.tabs.lead, ownRows };
  const { table: steps } = decide(inputOf(world, { ...table, tabs: { ...table.tabs, lead } }));
  return steps.map(({ write }) => (write.kind === 'set' ? [write.position, write.others?.length] : write));
}

describe('S13: a cell of people’s own that a write reached', () => {
  it('is mended where a sort has put its blank row since, and not in a row of a record that stands in its place', () => {
    expect(mendedRows(2, [ownRow(3, textCell('R9')), ownRow(4, emptyCell, word)])).toEqual([[4, 1]]);
  });

  it('is mended in a row that has nothing else but an unticked box', () => {
    const box = { 'custom.is_vip': booleanCell(false) };
    expect(mendedRows(2, [ownRow(4, emptyCell, word)], box)).toEqual([[4, 1]]);
  });

  it('is mended in the blank row that is nearest to where it was, if several show the word', () => {
    expect(
      mendedRows(
        7,
        [4, 6, 9].map((position) => ownRow(position, word)),
      ),
    ).toEqual([[6, 1]]);
  });

  it('is mended in a row that has its own ID back already, because a column moved once more while that was mended', () => {
    const world = worldWithLeads(['Acme', 'Beta']);
    const acme = rowOf(world, leadKey(1));
    const kept = keptRow(acme.id, { ...acme.cells });
    const others = [{ column: 8, written: word }];
    const sent = setTo(textCell('2'), { id: textCell('2'), cells: {}, others, kept });
    expect(stepsAfter(world, sent)).toMatchObject([{ position: 1, others, place: kept.place }]);
  });

  it('is mended in each row of a new record that landed twice under columns that had moved', () => {
    const world = worldWithLeads(['Acme', 'Beta']);
    const acme = rowOf(world, leadKey(1));
    const { row: _nowhere, ...columns } = place;
    const kept = { ...keptRow(acme.id, {}), place: columns };
    const others = [{ column: 8, written: word }];
    acme.cells['status_name'] = textCell('Acme');
    copyRow(world, leadKey(1));
    const cells = { status_name: textCell('Acme') };
    const sent = setTo(emptyCell, { cells, others, kept, position: -1 });
    expect(stepsAfter(world, sent)).toMatchObject([{ others }, { others }]);
  });

  it('is named in the history, with the ID and the Sync cell that were mended beside it', () => {
    const world = worldWithLeads(['Acme', 'Beta']);
    const acme = rowOf(world, leadKey(1));
    const kept = keptRow(acme.id, { ...acme.cells });
    [acme.id, acme.sync] = [textCell('2'), word];
    const others = [{ column: 8, written: word }];
    const sent = setTo(textCell('2'), { id: textCell('2'), sync: word, cells: {}, others, kept });
    const [step] = planAfter(world, sent).table;
    expect(step?.journal?.cause).toMatch(/while they were written: ID, Sync, cells of people’s own$/);
  });
});
