import { onTestFinished } from 'vitest';
import { systemClock } from '../../src/app/clock.ts';
import { listedEntities } from '../../src/core/record.ts';
import { createPostgresWarehouse } from '../../src/postgres/warehouse.ts';
import { SheetSide } from '../../src/sheet/side.ts';
import { Engine } from '../../src/sync/engine.ts';
import type { EditTerms } from '../../src/warehouse/link.ts';
import { WarehouseSide } from '../../src/warehouse/side.ts';
import { openLinkStage } from './link-stage.ts';
import { openDatabase } from './postgres.ts';
import type { Row } from './two-sides.ts';
import { until } from './until.ts';
import { editTerms } from './warehouse-edits-engine.ts';

/** A CRM with a sheet and a database whose tables are edited. */
export async function openThreeSides(terms: Partial<EditTerms> = {}) {
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
        // A step that ends between the reads would leave the CRM as it was read before, and nothing that waits.
        if (link.mirror.readAllSteps().length > 0) return false;
        const { inCrm, inSheet, inTable } = await titles();
        const isSame = [...inCrm].every(
          ([id, title]) => inSheet.get(id) === title && inTable.get(id) === title,
        );
        const steps = link.mirror.readAllSteps();
        const areAll = inTable.size === inCrm.size && inSheet.size === inCrm.size;
        return isSame && areAll && steps.length === 0 && inCrm;
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
