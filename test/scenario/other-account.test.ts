import { describe, expect, test } from 'vitest';
import type { Engine } from '../../src/sync/engine.ts';
import type { Link, LinkKey } from '../../src/sync/link.ts';
import { type LeadsStage, openLeadsStage } from '../support/leads-stage.ts';
import { type LinkStage, openLinkStage } from '../support/link-stage.ts';
import { until } from '../support/until.ts';

/** More than it takes on a machine that is busy. */
const limit = { timeout: 90_000 };

/** A mirror of five leads, and a CRM in which another agency has leads with the same ids. */
async function openAccounts() {
  const own = await openLeadsStage();
  const other = await openLinkStage({ leads: 5, opportunities: 0, tasks: 0 });
  await other.editCrm('/leads/1001', { title: 'Of another agency' });
  await own.engine.stop(5_000);
  return { own, other };
}

/** An engine on the mirror, as after a restart, with another key. */
async function restart({ createEngine, link }: LeadsStage, changes: Partial<Link> = {}): Promise<Engine> {
  const engine = createEngine({ ...link, ...changes });
  await engine.start();
  return engine;
}

const keyOf = (name: string, { link: { crm } }: LinkStage): LinkKey => ({ name, crm });

const withKeyOf = (stage: LinkStage): Partial<Link> => ({
  crm: stage.link.crm,
  keys: () => [keyOf('other', stage)],
});

const scopes = ({ lastPlan }: Engine) => lastPlan?.brakes.map(({ scope }) => scope) ?? [];

const waitsFor = (engine: Engine, scope: string) =>
  until(`${scope} waits`, async () => scopes(engine).includes(scope), {
    describe: async () => String(scopes(engine)),
  });

const cycled = (engine: Engine, times: number) => {
  const before = engine.tally.cycles;
  return until('it has cycled', async () => engine.tally.cycles >= before + times);
};

const titlesOf = async ({ readSheet }: LinkStage) => (await readSheet())['Leads']?.map(({ Title }) => Title);

const approve = ({ link }: LeadsStage, scope: string) =>
  link.mirror.saveDecision({ scope, choice: 'approve', at: link.clock.now() });

describe('a key that opens another account of the CRM', limit, () => {
  test('S5: writes nothing on either side and takes over nothing, although the ids are the same', async () => {
    const { own, other } = await openAccounts();
    await own.editSheet({ kind: 'edit', sheet: 'Leads', row: 1, column: 'Title', text: 'Typed meanwhile' });
    const before = [await own.readSheet(), own.link.mirror.readRecords()];
    const engine = await restart(own, withKeyOf(other));
    await waitsFor(engine, 'brake:lead:account');
    await cycled(engine, 5);
    expect([await own.readSheet(), own.link.mirror.readRecords()]).toEqual(before);
    expect(other.model.requests().map(({ method }) => method)).toEqual(['GET', 'GET', 'GET', 'GET', 'GET']);
    await expect(engine.pullAll(() => {})).rejects.toMatchObject({ code: 'DAEMON_REFUSED' });
  });

  test('is found among several keys, of which the others are known', async () => {
    const { own, other } = await openAccounts();
    const known = own.link.keys?.() ?? [];
    const engine = await restart(own, { keys: () => [...known, keyOf('other', other)] });
    await waitsFor(engine, 'brake:lead:account');
    expect(known).toHaveLength(1);
    expect(other.model.requests()).toHaveLength(5);
  });

  test('is let go by itself when the old key is back', async () => {
    const { own, other } = await openAccounts();
    const stopped = await restart(own, withKeyOf(other));
    await waitsFor(stopped, 'brake:lead:account');
    await stopped.stop(5_000);
    await own.editSheet({ kind: 'edit', sheet: 'Leads', row: 1, column: 'Title', text: 'Typed meanwhile' });
    const engine = await restart(own);
    await until('the edit arrives', async () =>
      (await own.readCrm()).leads.some(({ title }) => title === 'Typed meanwhile'),
    );
    expect(scopes(engine)).toEqual([]);
  });

  test('shows by record and field what differs once a person takes the account, and writes when that is approved too', async () => {
    const { own, other } = await openAccounts();
    const before = await own.readSheet();
    const engine = await restart(own, withKeyOf(other));
    await waitsFor(engine, 'brake:lead:account');
    approve(own, 'brake:lead:account');
    await waitsFor(engine, 'brake:lead:rebase');
    const [brake] = engine.lastPlan?.brakes ?? [];
    expect(brake?.reason).toMatch(
      /^The key opens another account of the CRM\. \d rows are equal on both sides, \d differ/,
    );
    expect(brake?.changes.shown).toContainEqual({
      id: '1001',
      what: 'differs',
      field: 'title',
      before: 'Of another agency',
      after: before['Leads']?.[0]?.['Title'],
    });
    expect(await own.readSheet()).toEqual(before);
    approve(own, 'brake:lead:rebase');
    await until('the difference waits', async () =>
      engine.lastPlan?.conflicts.some(({ crm }) => crm === 'Of another agency'),
    );
    expect(await titlesOf(own)).toEqual(before['Leads']?.map(({ Title }) => Title));
    expect(other.model.requests().filter(({ method }) => method !== 'GET')).toEqual([]);
  });
});

test('a new key of the same account goes on by itself, after one record was found with it', async () => {
  const { own } = await openAccounts();
  const asked = own.model.requests().length;
  const engine = await restart(own, { keys: () => [keyOf('rotated', own)] });
  await until('it reads again', async () => own.model.requests().length > asked + 1);
  await cycled(engine, 2);
  expect(scopes(engine)).toEqual([]);
  expect(own.model.requests()[asked]).toMatchObject({
    method: 'GET',
    path: expect.stringMatching(/^\/leads\/\d+$/),
  });
  expect(own.link.mirror.readFact('account.keys')).toBe('rotated');
});
