import { beforeEach, describe, expect, it } from 'vitest';
import { decide } from '../../src/sheet/decide/decide.ts';
import { buildLayout, type ColumnPolicy } from '../../src/sheet/policy.ts';
import { emptyCell, textCell } from '../../src/sheet/port/cell.ts';
import {
  changeRecord,
  inputOf,
  leadKey,
  readSheet,
  recordOf,
  removeRecord,
  rowOf,
  type World,
} from '../support/world.ts';
import { cycle, pull, push, refuse, settle, worldWithLeads } from '../support/world-daemon.ts';

const acme = leadKey(1);
const website = 'about.url';
const edit = 'https://acme.example';

const inCrm = (world: World) => recordOf(world, acme).fields[website];
const deleteColumn = (world: World) => world.hiddenFields.add(website);
const lostLines = (world: World) => world.journal.filter(({ lost }) => lost[website] === edit);

/** The settings give the column other rules, and the daemon starts again. */
function setRules(world: World, rules: ColumnPolicy): void {
  const { lead } = world.policy.tabs;
  const tabs = { ...world.policy.tabs, lead: { ...lead, columns: { [website]: rules } } };
  Object.assign(world, { layout: buildLayout({ ...world.policy, tabs }, world.catalog) });
}

let world: World;
beforeEach(() => {
  world = worldWithLeads(['Acme', 'Beta']);
  rowOf(world, acme).cells[website] = textCell(edit);
  cycle(world);
  cycle(world);
  expect([...world.outbox.values()]).toMatchObject([{ fields: { [website]: edit } }]);
});

describe('an edit that waits while its column is deleted', () => {
  it('S1: is sent all the same', () => {
    deleteColumn(world);
    cycle(world);
    cycle(world);
    expect([...world.outbox.values()]).toMatchObject([{ fields: { [website]: edit } }]);
    settle(world);
    expect([inCrm(world), world.outbox.size]).toEqual([edit, 0]);
  });

  it('S1: is sent together with another edit of the row', () => {
    deleteColumn(world);
    rowOf(world, acme).cells['title'] = textCell('Acme GmbH');
    cycle(world);
    cycle(world);
    settle(world);
    expect(recordOf(world, acme).fields).toMatchObject({ title: 'Acme GmbH', [website]: edit });
  });

  it('S1: is kept in the journal where the CRM changed the field meanwhile', () => {
    deleteColumn(world);
    changeRecord(world, acme, { [website]: 'https://crm.example' });
    push(world);
    settle(world);
    expect([inCrm(world), world.outbox.size]).toEqual(['https://crm.example', 0]);
    expect(lostLines(world)).toMatchObject([
      { after: { [website]: 'https://crm.example' }, cause: 'not sent, because its column is gone or off' },
    ]);
  });

  it('needs nothing where the CRM got the same value meanwhile', () => {
    deleteColumn(world);
    changeRecord(world, acme, { [website]: edit });
    push(world);
    settle(world);
    expect([world.outbox.size, lostLines(world)]).toEqual([0, []]);
  });

  it('is taken back by who brings the column back and empties the cell', () => {
    deleteColumn(world);
    cycle(world);
    world.hiddenFields.delete(website);
    rowOf(world, acme).cells[website] = emptyCell;
    settle(world);
    expect([inCrm(world), lostLines(world)]).toEqual([null, []]);
  });

  it('S1: goes into the journal where an empty column takes the place of the one that was deleted', () => {
    rowOf(world, acme).cells[website] = emptyCell;
    const table = readSheet(world);
    const fresh = new Set([website]);
    const { journal, outbox } = decide(
      inputOf(world, {
        ...table,
        tabs: { ...table.tabs, lead: { ...table.tabs.lead, fresh } },
      } as typeof table),
    );
    expect(outbox.drop).toEqual([acme]);
    expect(journal).toContainEqual(expect.objectContaining({ lost: { [website]: edit } }));
  });

  it('S1: stays refused and asked about, until “retry” sends it', () => {
    refuse(world);
    deleteColumn(world);
    expect(settle(world).refusals).toMatchObject([{ id: '1', decision: 'refused:lead-1' }]);
    world.decisions.set('refused:lead-1', 'retry');
    settle(world);
    expect([inCrm(world), world.decisions.size]).toEqual([edit, 0]);
  });

  it.each([false, true])('S1: goes into the journal by “revert”, with another edit: %s', (isWithTitle) => {
    if (isWithTitle) {
      rowOf(world, acme).cells['title'] = textCell('Acme GmbH');
      cycle(world);
      cycle(world);
    }
    refuse(world);
    deleteColumn(world);
    world.decisions.set('refused:lead-1', 'revert');
    settle(world);
    expect([inCrm(world), world.outbox.size, world.decisions.size]).toEqual([null, 0, 0]);
    expect(rowOf(world, acme).cells['title']).toEqual(textCell('Acme'));
    expect(lostLines(world)).toMatchObject([{ cause: 'put back, because the CRM did not take it' }]);
  });

  it('S1: goes into the journal where its row is paused', () => {
    deleteColumn(world);
    rowOf(world, acme).isPaused = true;
    settle(world);
    expect([world.outbox.size, lostLines(world).length]).toEqual([0, 1]);
  });

  it('S1: goes into the journal with the row, where the record is gone', () => {
    deleteColumn(world);
    removeRecord(world, acme);
    pull(world);
    pull(world);
    settle(world);
    expect(world.sheet.lead).toHaveLength(1);
    expect(lostLines(world)).toMatchObject([{ kind: 'delete', side: 'table' }]);
  });
});

describe('an edit that waits while the settings change the direction of its column', () => {
  it('S1: goes into the journal where the column is off', () => {
    setRules(world, { direction: 'off' });
    settle(world);
    expect([inCrm(world), world.outbox.size]).toEqual([null, 0]);
    expect(lostLines(world)).toMatchObject([
      { after: { [website]: null }, cause: 'not sent, because its column is gone or off' },
    ]);
  });

  it('S1: goes into the journal where the column only shows, and was deleted as well', () => {
    setRules(world, { direction: 'toTable' });
    deleteColumn(world);
    settle(world);
    expect([inCrm(world), world.outbox.size, lostLines(world).length]).toEqual([null, 0, 1]);
  });

  it('S1: is in the line of the value that takes its place where the column only shows', () => {
    setRules(world, { direction: 'toTable' });
    settle(world);
    expect([inCrm(world), world.outbox.size]).toEqual([null, 0]);
    expect(world.journal.at(-1)).toMatchObject({ side: 'table', lost: { [website]: edit } });
  });
});
