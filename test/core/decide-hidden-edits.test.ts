import { beforeEach, describe, expect, it } from 'vitest';
import { decide } from '../../src/sheet/decide/decide.ts';
import type { ColumnPolicy } from '../../src/sheet/policy.ts';
import { emptyCell, textCell } from '../../src/sheet/port/cell.ts';
import {
  changeRecord,
  journalOf,
  leadKey,
  recordOf,
  removeRecord,
  rowOf,
  type World,
} from '../support/world.ts';
import {
  cycle,
  inputOf,
  pull,
  push,
  readSheet,
  refuse,
  settle,
  worldWithLeads,
} from '../support/world-daemon.ts';

const acme = leadKey(1);
const website = 'about.url';
const edit = 'https://acme.example';

const inCrm = (world: World) => recordOf(world, acme).fields[website];
const deleteColumn = (world: World) => world.hiddenFields.add(website);
const lostLines = (world: World) => journalOf(world).filter(({ lost }) => lost[website] === edit);

/** The settings give the column other rules, and the daemon starts again. */
function setRules(world: World, rules: ColumnPolicy): void {
  const { lead } = world.policy.tabs;
  const tabs = { ...world.policy.tabs, lead: { ...lead, columns: { [website]: rules } } };
  Object.assign(world, { policy: { ...world.policy, tabs } });
  world.decisions.set('brake:lead:columns', 'approve');
}

let world: World;
beforeEach(async () => {
  world = await worldWithLeads(['Acme', 'Beta']);
  rowOf(world, acme).cells[website] = textCell(edit);
  await cycle(world);
  await cycle(world);
  expect([...world.outbox.values()]).toMatchObject([{ fields: { [website]: edit } }]);
});

describe('an edit that waits while its column is deleted', () => {
  it('S1: is sent all the same', async () => {
    deleteColumn(world);
    await cycle(world);
    await cycle(world);
    expect([...world.outbox.values()]).toMatchObject([{ fields: { [website]: edit } }]);
    await settle(world);
    expect([inCrm(world), world.outbox.size]).toEqual([edit, 0]);
  });

  it('S1: is sent together with another edit of the row', async () => {
    deleteColumn(world);
    rowOf(world, acme).cells['title'] = textCell('Acme GmbH');
    await cycle(world);
    await cycle(world);
    await settle(world);
    expect(recordOf(world, acme).fields).toMatchObject({ title: 'Acme GmbH', [website]: edit });
  });

  it('S1: is kept in the journal where the CRM changed the field meanwhile', async () => {
    deleteColumn(world);
    changeRecord(world, acme, { [website]: 'https://crm.example' });
    await push(world);
    await settle(world);
    expect([inCrm(world), world.outbox.size]).toEqual(['https://crm.example', 0]);
    expect(lostLines(world)).toMatchObject([
      { after: { [website]: 'https://crm.example' }, cause: 'not sent, because its column is gone or off' },
    ]);
  });

  it('needs nothing where the CRM got the same value meanwhile', async () => {
    deleteColumn(world);
    changeRecord(world, acme, { [website]: edit });
    await push(world);
    await settle(world);
    expect([world.outbox.size, lostLines(world)]).toEqual([0, []]);
  });

  it('is taken back by who brings the column back and empties the cell', async () => {
    deleteColumn(world);
    await cycle(world);
    world.hiddenFields.delete(website);
    rowOf(world, acme).cells[website] = emptyCell;
    await settle(world);
    expect([inCrm(world), lostLines(world)]).toEqual([null, []]);
  });

  it('S1: goes into the journal where an empty column takes the place of the one that was deleted', async () => {
    rowOf(world, acme).cells[website] = emptyCell;
    const table = await readSheet(world);
    const fresh = new Set([website]);
    const { journal, outbox } = decide(
      await inputOf(world, {
        ...table,
        tabs: { ...table.tabs, lead: { ...table.tabs.lead, fresh } },
      } as typeof table),
    );
    expect(outbox.drop).toEqual([acme]);
    expect(journal).toContainEqual(expect.objectContaining({ lost: { [website]: edit } }));
  });

  it('S1: stays refused and asked about, until “retry” sends it', async () => {
    refuse(world);
    deleteColumn(world);
    expect((await settle(world)).refusals).toMatchObject([{ id: '1', decision: 'refused:lead-1' }]);
    world.decisions.set('refused:lead-1', 'retry');
    await settle(world);
    expect([inCrm(world), world.decisions.size]).toEqual([edit, 0]);
  });

  it.each([false, true])(
    'S1: goes into the journal by “revert”, with another edit: %s',
    async (isWithTitle) => {
      if (isWithTitle) {
        rowOf(world, acme).cells['title'] = textCell('Acme GmbH');
        await cycle(world);
        await cycle(world);
      }
      refuse(world);
      deleteColumn(world);
      world.decisions.set('refused:lead-1', 'revert');
      await settle(world);
      expect([inCrm(world), world.outbox.size, world.decisions.size]).toEqual([null, 0, 0]);
      expect(rowOf(world, acme).cells['title']).toEqual(textCell('Acme'));
      expect(lostLines(world)).toMatchObject([{ cause: 'put back, because the CRM did not take it' }]);
    },
  );

  it('S1: goes into the journal where its row is paused', async () => {
    deleteColumn(world);
    rowOf(world, acme).isPaused = true;
    await settle(world);
    expect([world.outbox.size, lostLines(world).length]).toEqual([0, 1]);
  });

  it('S1: goes into the journal with the row, where the record is gone', async () => {
    deleteColumn(world);
    removeRecord(world, acme);
    await pull(world);
    await pull(world);
    await settle(world);
    expect(world.sheet.lead).toHaveLength(1);
    expect(lostLines(world)).toMatchObject([{ kind: 'delete', side: 'table' }]);
  });
});

describe('an edit that waits while the settings change the direction of its column', () => {
  it('S1: goes into the journal where the column is off', async () => {
    setRules(world, { direction: 'off' });
    await settle(world);
    expect([inCrm(world), world.outbox.size]).toEqual([null, 0]);
    expect(lostLines(world)).toMatchObject([
      { after: { [website]: null }, cause: 'not sent, because its column is gone or off' },
    ]);
  });

  it('S1: goes into the journal where the column only shows, and was deleted as well', async () => {
    setRules(world, { direction: 'toTable' });
    deleteColumn(world);
    await settle(world);
    expect([inCrm(world), world.outbox.size, lostLines(world).length]).toEqual([null, 0, 1]);
  });

  it('S1: is in the line of the value that takes its place where the column only shows', async () => {
    setRules(world, { direction: 'toTable' });
    await settle(world);
    expect([inCrm(world), world.outbox.size]).toEqual([null, 0]);
    expect(journalOf(world).at(-1)).toMatchObject({ side: 'table', lost: { [website]: edit } });
  });
});
