import { expect, onTestFinished, test } from 'vitest';
import { systemClock } from '../../src/app/clock.ts';
import { listedEntities } from '../../src/core/record.ts';
import { createPostgresWarehouse } from '../../src/postgres/warehouse.ts';
import { SheetSide } from '../../src/sheet/side.ts';
import { answer } from '../../src/sync/answers.ts';
import { Engine } from '../../src/sync/engine.ts';
import type { EditTerms } from '../../src/warehouse/link.ts';
import { WarehouseSide } from '../../src/warehouse/side.ts';
import { openLinkStage } from '../support/link-stage.ts';
import { openDatabase } from '../support/postgres.ts';
import { findPosition, type Row } from '../support/two-sides.ts';
import { until } from '../support/until.ts';
import { editTerms } from '../support/warehouse-edits-engine.ts';

const limit = { timeout: 60_000 };

/** A CRM with a sheet and a database whose tables are edited. */
async function openThreeSides(terms: Partial<EditTerms>) {
  const stage = await openLinkStage({ leads: 6, opportunities: 2, tasks: 2 });
  await stage.layOut();
  const database = await openDatabase();
  onTestFinished(() => database[Symbol.asyncDispose]());
  const { link } = stage;
  link.mirror.setFollowers(['warehouse']);
  const adapter = createPostgresWarehouse({
    url: database.url,
    schema: 'crm',
    tls: 'off',
    keeper: { link: 'stage', account: 'account-1', word: 'word-1', token: 0 },
    hasHistory: true,
    isEditable: true,
    clock: systemClock,
    log: stage.log,
  });
  const warehouse = new WarehouseSide(link, {
    database: adapter,
    schema: 'crm',
    entities: listedEntities,
    hasHistory: true,
    freshnessMs: 0,
    lostStages: [],
    limits: { deletesMin: 5, deletesShare: 0.1 },
    editing: { ...editTerms, ...terms },
  });
  const engine = new Engine(link, [new SheetSide(link), warehouse]);
  onTestFinished(() => engine.stop(5_000));
  await engine.pullAll(() => undefined);
  await engine.cycle();
  await engine.start();
  const titles = async () => {
    const titlesOf = (rows: readonly Row[] = []) =>
      new Map(rows.map((row) => [String(row['ID']), String(row['Title'])]));
    const { leads } = await stage.readCrm();
    const inCrm = new Map(leads.map(({ id, title }) => [String(id), title]));
    const inSheet = titlesOf((await stage.readSheet())['Leads']);
    const rows = await database.query('SELECT id::text, title FROM crm.lead');
    const inTable = new Map(rows.map(({ id, title }) => [String(id), title]));
    return { inCrm, inSheet, inTable };
  };
  const same = () =>
    until(
      'all three show the same',
      async () => {
        const { inCrm, inSheet, inTable } = await titles();
        const isSame = [...inCrm].every(
          ([id, title]) => inSheet.get(id) === title && inTable.get(id) === title,
        );
        const steps = link.mirror.readAllSteps();
        return isSame && inTable.size === inCrm.size && steps.length === 0 && inCrm;
      },
      {
        limitMs: 20_000,
        describe: async () =>
          JSON.stringify([
            await database.query('SELECT * FROM crm.edit'),
            engine.found,
            link.mirror.readAllSteps(),
          ]),
      },
    );
  return { ...stage, database, engine, same, titles };
}

const orders = ['the sheet first', 'SQL first', 'at once'] as const;
const policies = ['crm', 'table', 'ask'] as const;

test.for(policies.flatMap((policy) => orders.map((order) => [policy, order] as const)))(
  'W7: fault 48: sheet and SQL change one field within a second: with the rule %s, %s, all three end the same, and both values are accounted for',
  limit,
  async ([conflict, order]) => {
    const stage = await openThreeSides({ conflict });
    const known = await stage.same();
    const [id = ''] = [...known.keys()];
    const [before] = [known.get(id)];
    const place = await findPosition(stage.addresses, 'lead', id);
    const inSheet = () =>
      stage.editSheet({ kind: 'edit', sheet: 'Leads', row: place, column: 'Title', text: 'Of the sheet' });
    const bySql = () => stage.database.query("UPDATE crm.lead SET title = 'Of SQL' WHERE id = $1", [id]);
    if (order === 'the sheet first') await inSheet().then(bySql);
    else if (order === 'SQL first') await bySql().then(inSheet);
    else await Promise.all([inSheet(), bySql()]);
    await until('both edits were seen', async () => {
      const [edit] = await stage.database.query('SELECT state FROM crm.edit');
      const { inCrm } = await stage.titles();
      return edit?.['state'] !== 'new' && edit?.['state'] !== 'taken' && inCrm.get(id) !== before;
    });
    for (const { answers, scope } of stage.engine.found.questions) {
      expect(answers).toContain('crm');
      answer(stage.engine, [scope], 'crm');
    }
    const title = (await stage.same()).get(id);
    expect(['Of the sheet', 'Of SQL']).toContain(title);
    const lines = JSON.stringify(stage.link.mirror.searchJournal({ key: { entity: 'lead', id } }));
    for (const value of ['Of the sheet', 'Of SQL']) expect(lines).toContain(value);
    const [edit] = await stage.database.query('SELECT state FROM crm.edit');
    expect(edit?.['state']).toBe(title === 'Of SQL' ? 'done' : edit?.['state'] === 'done' ? 'done' : 'lost');
  },
);
