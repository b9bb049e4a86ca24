import { describe, expect, test } from 'vitest';
import { lateLandingMs } from '../../src/core/open-write.ts';
import type { FaultsInput } from '../../src/sandbox/sheets/faults.ts';
import { newSheetError } from '../../src/sheet/port/errors.ts';
import { pushRecord } from '../../src/sync/pushing/push.ts';
import { expectEqualSides, goOn } from '../support/go-on.ts';
import { type LinkStage, openLinkStage } from '../support/link-stage.ts';
import type { SheetEngine } from '../support/sheet-engine.ts';

/*
 * Writes while a user moves rows or types. A lost reply is for the mirror the same as a kill between the write and its reply: the engine that
 * goes on is another one, which knows only what the mirror knows.
 */

const leads = 6;

/** A filled sheet, and the engine that filled it. */
async function openFilled(): Promise<{ stage: LinkStage; engine: SheetEngine }> {
  const stage = await openLinkStage({ leads, opportunities: 0, tasks: 0 });
  const engine = await stage.fill({ policy: { ...stage.link.policy, vanishedRows: 'trash' } });
  return { stage, engine };
}

const sortedTheOtherWay = [{ kind: 'sort', sheet: 'Leads', column: 'ID', descending: true }] as const;
const cutAfterLanding = [{ kind: 'cut', when: 'after' }] as const;

/** What becomes of the reply to a write that meets sorted rows: it comes, or it is lost and another engine goes on. */
const replies: [string, FaultsInput['failures']][] = [
  ['comes', []],
  ['is lost', [...cutAfterLanding]],
];

/** The rows are sorted between the read and the write. Returns the engine that knows nothing but what the mirror knows. */
async function writeIntoSorted(
  { engine, stage }: { engine: SheetEngine; stage: LinkStage },
  failures: FaultsInput['failures'] = [],
) {
  await stage.setSheetFaults({ beforeNextWrite: [...sortedTheOtherWay], failures: [...failures] });
  if (failures.length === 0) {
    await engine.cycle();
    return engine;
  }
  await expect(engine.cycle()).rejects.toMatchObject({ code: 'SHEET_UNREACHABLE' });
  return stage.createEngine({ policy: engine.link.policy });
}

async function renameFirst({ engine, stage }: { engine: SheetEngine; stage: LinkStage }) {
  const [first] = (await stage.readCrm()).leads;
  await stage.editCrm(`/leads/${first?.id}`, { title: 'Renamed' });
  await engine.pullAll(() => {});
  return first;
}

async function removeFirst({ engine, stage }: { engine: SheetEngine; stage: LinkStage }) {
  const [first] = (await stage.readCrm()).leads;
  await stage.removeInCrm(`/leads/${first?.id}`);
  await engine.pullAll(() => {});
  await engine.pullAll(() => {});
  await engine.cycle();
  return first;
}

const writesToCrm = ({ model }: LinkStage) => model.requests().filter(({ method }) => method !== 'GET');

describe.each(replies)('a write that meets sorted rows, and whose reply %s', (_reply, failures) => {
  test('S2 S8: never puts a value into another record, and every row shows its own at the end', async () => {
    const { engine, stage } = await openFilled();
    const titles = (await stage.readCrm()).leads.map(({ title }) => title);
    const first = await renameFirst({ engine, stage });
    await goOn(stage, await writeIntoSorted({ engine, stage }, failures));
    const crm = await expectEqualSides(stage);
    expect(crm.map(([, title]) => title).toSorted()).toEqual(
      [...titles.filter((title) => title !== first?.title), 'Renamed'].toSorted(),
    );
    expect(writesToCrm(stage)).toEqual([]);
  });

  test('S1: gives back the edit that was in the row it met, and the edit goes to the CRM', async () => {
    const { engine, stage } = await openFilled();
    const last = (await stage.readCrm()).leads.at(-1);
    await renameFirst({ engine, stage });
    const rowOfLast = ((await stage.readSheet())['Leads'] ?? []).findIndex(({ ID }) => ID === last?.id) + 1;
    await stage.editSheet({ kind: 'edit', sheet: 'Leads', row: rowOfLast, column: 'Title', text: 'Typed' });
    await goOn(stage, await writeIntoSorted({ engine, stage }, failures));
    const crm = await expectEqualSides(stage);
    expect(crm.find(([id]) => id === last?.id)?.[1]).toBe('Typed');
  });

  test('S4: brings back a row that its delete took, and trashes nothing', async () => {
    const { engine, stage } = await openFilled();
    await removeFirst({ engine, stage });
    await goOn(stage, await writeIntoSorted({ engine, stage }, failures));
    expect(await expectEqualSides(stage)).toHaveLength(leads - 1);
    expect(writesToCrm(stage)).toEqual([]);
  });

  test('is over without a question, and the history says what it met', async () => {
    const { engine, stage } = await openFilled();
    await renameFirst({ engine, stage });
    const next = await writeIntoSorted({ engine, stage }, failures);
    await goOn(stage, next);
    const { mirror } = stage.link;
    expect(mirror.readOpenWrites()).toEqual([]);
    expect(next.lastPlan?.questions).toEqual([]);
    expect(next.tally).toMatchObject({ undoneWrites: 1, escalatedWrites: 0 });
    expect(mirror.readSuspects()).toMatchObject([{ state: 'undone', damage: { kind: 'overwritten' } }]);
    expect(mirror.searchJournal({ limit: 10 }).filter(({ kind }) => kind === 'repair')).toMatchObject([
      { side: 'table', after: { title: 'Renamed' }, cause: expect.stringContaining('undone') },
    ]);
  });
});

test('S2: rows that are sorted while one of them is written are right when the cycle ends', async () => {
  const { engine, stage } = await openFilled();
  await renameFirst({ engine, stage });
  await writeIntoSorted({ engine, stage });
  await expectEqualSides(stage);
});

test('S2: an engine that is killed between a write that met sorted rows and its inverse leaves the rest to the next one', async () => {
  const { engine, stage } = await openFilled();
  const { table } = stage.link;
  await renameFirst({ engine, stage });
  const kill = () => {
    throw newSheetError('SHEET_UNREACHABLE', 'Killed.');
  };
  const killed = stage.createEngine({
    policy: engine.link.policy,
    table: { ...table, write: (receipt, _keep, mark) => table.write(receipt, kill, mark) },
  });
  await stage.setSheetFaults({ beforeNextWrite: [...sortedTheOtherWay] });
  await expect(killed.cycle()).rejects.toThrow('Killed.');
  await goOn(stage, stage.createEngine({ policy: engine.link.policy }));
  await expectEqualSides(stage);
  expect(writesToCrm(stage)).toEqual([]);
});

test('a plan that is made before the engine keeps the sheet undoes nothing there', async () => {
  const { engine, stage } = await openFilled();
  await renameFirst({ engine, stage });
  const next = await writeIntoSorted({ engine, stage }, [...cutAfterLanding]);
  const [open, writes] = [stage.link.mirror.readOpenWrites(), await stage.sheetWrites()];
  expect(open).toHaveLength(1);
  await next.plan();
  expect([stage.link.mirror.readOpenWrites(), await stage.sheetWrites()]).toEqual([open, writes]);
});

/** The first lead gets another title in the CRM, and a person types one into its row while that is written. */
async function typeMeanwhile(stage: LinkStage, engine: SheetEngine, faults: FaultsInput = {}) {
  const [first] = (await stage.readCrm()).leads;
  const rows = (await stage.readSheet())['Leads'] ?? [];
  const row = rows.findIndex(({ ID }) => ID === first?.id) + 1;
  await stage.editCrm(`/leads/${first?.id}`, { title: 'Renamed in the CRM' });
  await engine.pullAll(() => {});
  const typeTitle = (text: string) => ({ kind: 'edit', sheet: 'Leads', row, column: 'Title', text }) as const;
  await stage.setSheetFaults({ ...faults, beforeNextWrite: [typeTitle('Typed meanwhile')] });
  return { first, typeTitle };
}

describe('what a user types while the row is written', () => {
  test.each(['table', 'ask'] as const)(
    'S1: is not overwritten where the rule of the column is %s',
    async (conflict) => {
      const { stage } = await openFilled();
      const { policy } = stage.link;
      const lead = { ...policy.tabs.lead, conflict };
      const engine = stage.createEngine({ policy: { ...policy, tabs: { ...policy.tabs, lead } } });
      const { first } = await typeMeanwhile(stage, engine);
      await engine.cycle();
      const shown = ((await stage.readSheet())['Leads'] ?? []).find(({ ID }) => ID === first?.id);
      expect(shown?.['Title']).toBe('Typed meanwhile');
      for (const _cycle of Array.from({ length: 3 })) await engine.cycle();
      if (conflict === 'ask') {
        expect(engine.lastPlan?.conflicts).toMatchObject([
          { crm: 'Renamed in the CRM', table: 'Typed meanwhile' },
        ]);
      } else {
        expect(stage.link.mirror.readOutbox()).toMatchObject([{ fields: { title: 'Typed meanwhile' } }]);
      }
    },
  );

  test('S1: is in the journal where the CRM wins', async () => {
    const { engine, stage } = await openFilled();
    await typeMeanwhile(stage, engine);
    for (const _cycle of Array.from({ length: 4 })) await engine.cycle();
    await expectEqualSides(stage);
    expect(stage.link.mirror.searchJournal({ limit: 20 }).map(({ lost }) => lost['title'])).toContain(
      'Typed meanwhile',
    );
  });

  test('is not brought back where they go on typing and the CRM wins', async () => {
    const { engine, stage } = await openFilled();
    const { first, typeTitle } = await typeMeanwhile(stage, engine, { failures: [...cutAfterLanding] });
    await expect(engine.cycle()).rejects.toMatchObject({ code: 'SHEET_UNREACHABLE' });
    await stage.editSheet(typeTitle('Typed on'));
    for (const _cycle of Array.from({ length: 6 })) await engine.cycle();
    const crm = await expectEqualSides(stage);
    expect(crm.find(([id]) => id === first?.id)?.[1]).toBe('Renamed in the CRM');
    expect(stage.link.mirror.readOutbox()).toEqual([]);
  });
});

test('a write that never landed is done again, and watched for as long as it may still land', async () => {
  const { engine, stage } = await openFilled();
  await renameFirst({ engine, stage });
  await stage.setSheetFaults({ failures: [{ kind: 'unavailable', when: 'before' }] });
  await expect(engine.cycle()).rejects.toMatchObject({ code: 'SHEET_UNREACHABLE' });
  for (const _cycle of Array.from({ length: 3 })) await engine.cycle();
  await expectEqualSides(stage);
  const [open, ...others] = stage.link.mirror.readOpenWrites();
  expect(others).toEqual([]);
  expect(open).toMatchObject({ confirms: [[0, { offers: { title: 'Renamed' } }]], damage: [] });
  expect((open?.settlesAt ?? 0) - (open?.at ?? 0)).toBeGreaterThanOrEqual(lateLandingMs);
});

test('a row that a user filters away while it is deleted is gone, as the history says, and none is given back', async () => {
  const { engine, stage } = await openFilled();
  const first = await removeFirst({ engine, stage });
  const filter = { kind: 'filter', sheet: 'Leads', column: 'ID' } as const;
  await stage.setSheetFaults({ beforeNextWrite: [{ ...filter, shown: [] }] });
  await engine.cycle();
  await expectEqualSides(stage);
  expect(stage.link.mirror.searchJournal({ limit: 1 })).toMatchObject([
    { kind: 'delete', side: 'table', key: { id: String(first?.id) }, cause: 'deleted in the CRM' },
  ]);
  expect(stage.link.mirror.readOpenWrites()).toEqual([]);
});

test.each([
  ['came', []],
  ['was lost', cutAfterLanding],
])(
  'a row whose record is gone leaves in the history what users had there in columns of their own, where the reply %s',
  async (_reply, failures) => {
    const { engine, stage } = await openFilled();
    const [first] = (await stage.readCrm()).leads;
    const cell = { kind: 'edit', sheet: 'Leads', column: 20 } as const;
    await stage.editSheet(
      { ...cell, row: 0, text: 'Mine' },
      { ...cell, row: 1, text: 'Call back in March' },
      { ...cell, row: 1, column: 21, text: '=1+1' },
    );
    await stage.removeInCrm(`/leads/${first?.id}`);
    await engine.pullAll(() => {});
    await engine.pullAll(() => {});
    await engine.cycle();
    await stage.setSheetFaults({ failures: [...failures] });
    if (failures.length > 0)
      await expect(engine.cycle()).rejects.toMatchObject({ code: 'SHEET_UNREACHABLE' });
    await engine.cycle();
    await expectEqualSides(stage);
    const lost = { Mine: 'Call back in March', 'column 22': '=1+1' };
    expect(stage.link.mirror.searchJournal({ limit: 1 })).toMatchObject([
      { kind: 'delete', side: 'table', lost },
    ]);
  },
);

test('a row that a user filters away while it is written is looked for nowhere else: a new row that says the same stays as it is', async () => {
  const { engine, stage } = await openFilled();
  const [first] = (await stage.readCrm()).leads;
  const readNew = async () => ((await stage.readSheet())['Leads'] ?? [])[leads]?.['Status'];
  const status = { kind: 'edit', sheet: 'Leads', row: leads + 1, column: 'Status', text: 'Won' } as const;
  await stage.editSheet(status);
  await engine.cycle();
  await stage.editCrm(`/leads/${first?.id}`, { status_name: 'Won' });
  await engine.pullAll(() => {});
  const filter = { kind: 'filter', sheet: 'Leads', column: 'Status' } as const;
  await stage.setSheetFaults({ beforeNextWrite: [{ ...filter, shown: ['Won'] }] });
  await engine.cycle();
  expect(await readNew()).toBe('Won');
});

test('a new row that a user filters away while it gets its ID keeps that, and what was typed there', async () => {
  const { engine, stage } = await openFilled();
  const row = { kind: 'edit', sheet: 'Leads', row: leads + 1 } as const;
  await stage.editSheet(
    { ...row, column: 'Title', text: 'New one' },
    { ...row, column: 'Website', text: ' https://New.example ' },
  );
  while (stage.link.mirror.readOutbox().length === 0) await engine.cycle();
  for (const { key } of stage.link.mirror.readOutbox()) await pushRecord(stage.link, key);
  await stage.setSheetFaults({
    beforeNextWrite: [{ kind: 'filter', sheet: 'Leads', column: 'ID', shown: [] }],
  });
  for (const _cycle of Array.from({ length: 4 })) await engine.cycle();
  await expectEqualSides(stage);
  expect((await stage.readSheet())['Leads']?.[leads]?.['Website']).toBe('https://New.example');
});

test.each([
  ['came', []],
  ['was lost', cutAfterLanding],
])(
  'S4: a row that a filter hides and that a delete took because rows moved comes back, where the reply %s',
  async (_reply, failures) => {
    const { engine, stage } = await openFilled();
    await removeFirst({ engine, stage });
    await stage.editSheet({ kind: 'filter', sheet: 'Leads', column: 'ID', shown: [] });
    await stage.setSheetFaults({
      beforeNextWrite: [{ kind: 'moveRows', sheet: 'Leads', row: 1, count: 1, to: 4 }],
      failures: [...failures],
    });
    if (failures.length > 0)
      await expect(engine.cycle()).rejects.toMatchObject({ code: 'SHEET_UNREACHABLE' });
    await goOn(stage, stage.createEngine({ policy: engine.link.policy }));
    expect(await expectEqualSides(stage)).toHaveLength(leads - 1);
  },
);
