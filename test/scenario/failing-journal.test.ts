import { describe, expect, test } from 'vitest';
import { SyncError } from '../../src/core/errors.ts';
import type { Mirror } from '../../src/core/mirror.ts';
import { type LinkStage, openLinkStage } from '../support/link-stage.ts';
import { until } from '../support/until.ts';

/** More than it takes on a machine that is busy. */
const limit = { timeout: 90_000 };

/** Whether lines can be written into the journal. */
interface Journal {
  isFailing: boolean;
  readonly refused: number;
}

/** A mirror of which nothing can be written but its journal; the file and its transactions are real. */
function withJournal(mirror: Mirror): { readonly mirror: Mirror; readonly journal: Journal } {
  const journal = { isFailing: false, refused: 0 };
  const appendJournal: Mirror['appendJournal'] = (entries) => {
    if (!journal.isFailing) return mirror.appendJournal(entries);
    journal.refused += 1;
    throw new SyncError('STATE_FULL', 'The journal can not grow.');
  };
  return { mirror: { ...mirror, appendJournal }, journal };
}

/** A daemon that runs on a filled sheet. */
async function openRunning() {
  const stage = await openLinkStage({ leads: 4, opportunities: 0, tasks: 0 });
  await stage.layOut();
  const { mirror, journal } = withJournal(stage.link.mirror);
  const engine = stage.createEngine({ mirror, backoff: { firstMs: 50, maxMs: 200 } });
  await engine.start();
  await until('the sheet is filled', async () => (await titles(stage)).length === 4);
  await until('nothing is left to do', async () => engine.lastPlan?.table.length === 0);
  return { engine, journal, stage };
}

const titles = async ({ readSheet }: LinkStage) =>
  ((await readSheet())['Leads'] ?? []).map(({ Title }) => Title);

const told = ({ link }: LinkStage, title: string) =>
  link.mirror.searchJournal({ limit: 100 }).filter(({ after }) => after['title'] === title);

const sent = ({ model }: LinkStage, method: string) =>
  model.requests().filter((request) => request.method === method);

const refuses = (journal: Journal) =>
  until('lines of the journal are refused', async () => journal.refused > 0);

/** Lets the CRM take its time with the next request of this kind, and resolves when that is under way. */
async function slowDown(
  { model, setCrmFaults }: LinkStage,
  method: 'PUT' | 'POST',
  path: string,
  act: () => Promise<void>,
) {
  setCrmFaults({ faults: [{ kind: 'slow', method, path, delayMs: 300 }] });
  await act();
  await until('it is on its way', async () => model.faults.pending().faults.length === 0);
}

describe('while the journal can not be written', limit, () => {
  test('fault 77: the daemon says so, and explains afterwards what it had written to the sheet', async () => {
    const { engine, journal, stage } = await openRunning();
    const before = await titles(stage);
    journal.isFailing = true;
    await stage.editCrm('/leads/1001', { title: 'Changed in the CRM' });
    await refuses(journal);
    expect(engine.problems.list()).toMatchObject([{ source: 'mirror', code: 'STATE_FULL' }]);
    journal.isFailing = false;
    await until('the sheet follows', async () => (await titles(stage)).includes('Changed in the CRM'));
    await until('the journal tells it', async () => told(stage, 'Changed in the CRM').length > 0);
    expect(await titles(stage)).toHaveLength(before.length);
    await until('all is well', async () => engine.problems.list().length === 0);
  });

  test('fault 77: an update that the CRM has carried out is neither lost nor sent twice', async () => {
    const { journal, stage } = await openRunning();
    await slowDown(stage, 'PUT', '/leads/*', () =>
      stage.editSheet({ kind: 'edit', sheet: 'Leads', row: 1, column: 'Title', text: 'Typed' }),
    );
    journal.isFailing = true;
    await refuses(journal);
    journal.isFailing = false;
    await until('the journal tells it', async () => told(stage, 'Typed').length > 0);
    await until('nothing is on its way', async () => stage.link.mirror.readOutbox().length === 0);
    expect(sent(stage, 'PUT')).toHaveLength(1);
  });

  test('fault 77: a record that the CRM has created is found again, and not created twice', async () => {
    const { journal, stage } = await openRunning();
    await slowDown(stage, 'POST', '/leads', () =>
      stage.editSheet({ kind: 'edit', sheet: 'Leads', row: 5, column: 'Title', text: 'Fresh' }),
    );
    journal.isFailing = true;
    await refuses(journal);
    journal.isFailing = false;
    await until('the journal tells it', async () => told(stage, 'Fresh').length > 0);
    await until(
      'its row has the ID',
      async () => typeof (await stage.readSheet())['Leads']?.[4]?.['ID'] === 'number',
    );
    expect((await stage.readCrm()).leads.filter(({ title }) => title === 'Fresh')).toHaveLength(1);
    expect(sent(stage, 'POST')).toHaveLength(1);
  });
});
