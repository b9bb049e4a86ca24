import { onTestFinished } from 'vitest';
import type { EditTerms } from '../../src/warehouse/link.ts';
import { until } from './until.ts';
import { openWarehouseEngine, type WarehouseEngineOptions } from './warehouse-engine.ts';

export const editTerms: EditTerms = {
  bulkRows: 100,
  conflict: 'crm',
  deletes: 'ask',
  isNotified: true,
  pollMs: 1_000,
  keepDays: 90,
  limits: { changesMin: 20, changesShare: 0.2, deletesMin: 5, deletesShare: 0.1 },
};

let editors = 0;

/** An engine whose tables are edited by SQL, with the session of an editor; the tables show what the CRM has. */
export async function openEditedEngine(terms: Partial<EditTerms> = {}, options: WarehouseEngineOptions = {}) {
  const stage = await openWarehouseEngine({
    ...options,
    terms: { ...options.terms, editing: { ...editTerms, ...terms } },
  });
  await stage.start();
  await stage.settled();
  await stage.compared();
  editors += 1;
  const name = `edits_${process.pid}_${editors}`;
  await stage.database.query(`CREATE ROLE ${name} LOGIN PASSWORD 'secret'`);
  await stage.database.query(`GRANT crm_editor TO ${name}`);
  onTestFinished(async () => void (await stage.database.query(`DROP ROLE IF EXISTS ${name}`)).length);
  const editor = await stage.database.connect(name, 'secret');
  const outcomes = () =>
    stage.database.query(
      'SELECT entity, id, op, state, note, new_id, ended_at IS NOT NULL AS is_over FROM crm.edit ORDER BY seq',
    );
  return {
    ...stage,
    get engine() {
      return stage.engine;
    },
    get mirror() {
      return stage.mirror;
    },
    get side() {
      return stage.side;
    },
    editor,
    outcomes,
    /** Resolves with the outcomes once no edit is new or on its way. */
    decided: () =>
      until(
        'something came of every edit',
        async () => {
          const all = await outcomes();
          return all.every(({ state }) => state !== 'new' && state !== 'taken') && all;
        },
        {
          limitMs: 28_000,
          describe: async () =>
            JSON.stringify([await outcomes(), stage.engine.listProblems().map(({ message }) => message)]),
        },
      ),
  };
}
