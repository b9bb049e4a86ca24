import { describe, expect, onTestFinished, test } from 'vitest';
import { seedCustomFields } from '../../src/sandbox/crm/seed-catalog.ts';
import { isQuiet } from '../../src/sheet/plans/plan.ts';
import { type LeadsStage, openLeadsStage } from '../support/leads-stage.ts';
import { SheetEngine } from '../support/sheet-engine.ts';

/** More than it takes on a machine that is busy. */
const limit = { timeout: 90_000 };

/** More than any of it takes. */
const turnsMax = 50;

type Options = Readonly<Record<number, string>>;

/** What an administrator makes of the options of “Services”. */
function offerServices({ model }: LeadsStage, names: Options): void {
  const options = Object.entries(names).map(([id, name]) => ({ id: Number(id), name }));
  const customFields = seedCustomFields.map((field) =>
    field.field_key === 'services' ? { ...field, options } : field,
  );
  Object.assign(model.records, { customFields });
}

const printing: Options = { 1: 'Print', 2: 'Packaging' };
const studio: Options = { 1: 'Web design', 2: 'SEO', 3: 'Print, packaging' };

/** Leads of which the first has these services, on both sides. */
async function openStage(names: Options, services: readonly string[]): Promise<LeadsStage> {
  const stage = await openLeadsStage();
  offerServices(stage, names);
  for (const { id } of (await stage.readCrm()).leads)
    await stage.editCrm(`/leads/${id}`, { custom_fields: { services: null } });
  await haveServices(stage, services);
  await settleOften(stage);
  expect(await cellOf(stage)).toBe(services.join(', '));
  return stage;
}

const haveServices = async (stage: LeadsStage, services: readonly string[]) =>
  stage.editCrm(`/leads/${await stage.firstLead()}`, { custom_fields: { services } });

async function settleOften(stage: LeadsStage): Promise<void> {
  for (const _time of [1, 2]) await stage.settle();
}

const cellOf = async (stage: LeadsStage) => {
  const { Leads = [] } = await stage.readSheet();
  return Leads[0]?.['Services'];
};

const servicesOf = async (stage: LeadsStage) => {
  const lead = await stage.firstLead();
  const { leads } = await stage.readCrm();
  return leads.find(({ id }) => String(id) === lead)?.custom_fields?.['services'];
};

/** Lines of the history about the services of a lead, the newest first. */
const historyOf = ({ link }: LeadsStage) =>
  link.mirror
    .searchJournal({ limit: 50 })
    .filter(({ after }) => 'custom.services' in after)
    .map(({ cause, side }) => ({ cause, side }));

/** Nothing waits for a person and nothing is held. */
function expectNoWord({ lastPlan, link }: SheetEngine): void {
  const { brakes, conflicts, holds, refusals } = lastPlan ?? {};
  expect([brakes, conflicts, holds, refusals]).toEqual([[], [], [], []]);
  expect(link.mirror.readOutbox()).toEqual([]);
}

/** Another daemon on the same mirror, until nothing is left to do. */
async function startAgain(stage: LeadsStage): Promise<SheetEngine> {
  const engine = new SheetEngine(stage.reopen());
  onTestFinished(() => engine.stop(5_000));
  for (const _turn of Array.from({ length: turnsMax })) {
    await engine.pullAll(() => {});
    const plan = await engine.cycle();
    if (isQuiet(plan) && plan.restlessRows === 0) return engine;
  }
  throw new Error('It did not come to rest.');
}

describe('an untouched cell while the CRM changes what it names', limit, () => {
  test.each([
    { when: 'while the daemon runs', isDown: false },
    { when: 'while the daemon is down', isDown: true },
  ])(
    'an option that reads like two others is added $when: both sides keep their values',
    async ({ isDown }) => {
      const stage = await openStage(printing, ['Print', 'Packaging']);
      const history = historyOf(stage);
      offerServices(stage, { ...printing, 3: 'Print, packaging' });
      if (!isDown) await settleOften(stage);
      const engine = isDown ? await startAgain(stage) : stage.engine;
      expect(await servicesOf(stage)).toEqual(['Print', 'Packaging']);
      expect(historyOf({ ...stage, link: engine.link })).toEqual(history);
      expectNoWord(engine);
    },
  );

  test('an option is renamed while the daemon is down: the row follows, and the history names no user', async () => {
    const stage = await openStage(studio, ['Web design', 'SEO']);
    const history = historyOf(stage);
    offerServices(stage, { ...studio, 2: 'Search' });
    await haveServices(stage, ['Web design', 'Search']);
    const engine = await startAgain(stage);
    expect(await servicesOf(stage)).toEqual(['Web design', 'Search']);
    expect(await cellOf(stage)).toBe('Web design, Search');
    expect(historyOf({ ...stage, link: engine.link })).toEqual([
      { cause: 'changed in the CRM', side: 'table' },
      ...history,
    ]);
    expectNoWord(engine);
  });

  test('an option is deleted: the row goes on following the CRM', async () => {
    const stage = await openStage(studio, ['Web design', 'SEO']);
    offerServices(stage, { 1: 'Web design', 3: 'Print, packaging' });
    await settleOften(stage);
    expectNoWord(stage.engine);
    await haveServices(stage, ['Web design']);
    await settleOften(stage);
    expect([await servicesOf(stage), await cellOf(stage)]).toEqual([['Web design'], 'Web design']);
    expectNoWord(stage.engine);
  });

  test('a person who types the old name of an option gives its new one', async () => {
    const stage = await openStage(studio, ['Web design']);
    offerServices(stage, { ...studio, 2: 'Search' });
    await settleOften(stage);
    await stage.editSheet({ kind: 'edit', sheet: 'Leads', row: 1, column: 'Services', text: 'SEO' });
    await settleOften(stage);
    expect([await servicesOf(stage), await cellOf(stage)]).toEqual([['Search'], 'Search']);
    expect(historyOf(stage)[0]).toEqual({ cause: 'edited in the sheet', side: 'crm' });
  });
});
