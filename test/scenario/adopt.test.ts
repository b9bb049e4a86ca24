import { describe, expect, test } from 'vitest';
import { entities } from '../../src/core/record.ts';
import { adoptRows, planAdoption, readCandidates } from '../../src/sheet/adopt.ts';
import { currentLayout } from '../../src/sheet/layout.ts';
import { pullCatalog } from '../../src/sync/reading/pull.ts';
import { type LinkStage, openLinkStage } from '../support/link-stage.ts';

/** A CRM that was read, and a tab in which somebody wrote its leads down, without IDs. */
async function openFilled(): Promise<LinkStage> {
  const stage = await openLinkStage({ leads: 6, opportunities: 0, tasks: 0 });
  const { link } = stage;
  await stage.createEngine().pullAll(() => {});
  await link.table.layOut(currentLayout(link), 'create');
  const { leads } = await stage.readCrm();
  await stage.editSheet({
    kind: 'paste',
    sheet: 'Leads',
    row: 1,
    column: 'Title',
    rows: leads.map(({ title }) => [title]),
  });
  return stage;
}

const shownIds = async (stage: LinkStage) =>
  new Map((await stage.readSheet())['Leads']?.map(({ ID, Title }) => [Title, ID]));
const trueIds = async (stage: LinkStage) =>
  new Map((await stage.readCrm()).leads.map(({ id, title }) => [title, id]));

describe('a tab that was filled before the daemon came', () => {
  test('fault 76: gets the IDs of its records in one write, and both sides are then the same without a new record', async () => {
    const stage = await openFilled();
    const { link } = stage;
    expect(await planAdoption(link, 'Title')).toMatchObject([
      { title: 'Leads', identified: 0, unclear: [] },
      { title: 'Tasks' },
    ]);
    expect([...(await shownIds(stage)).values()]).toEqual(Array.from({ length: 6 }));
    const [adoption] = await adoptRows(link, 'title');
    expect(adoption?.matches).toHaveLength(6);
    expect(await shownIds(stage)).toEqual(await trueIds(stage));
    const engine = stage.createEngine();
    await engine.pullAll(() => {});
    for (const _cycle of Array.from({ length: 3 })) await engine.cycle();
    expect(engine.lastPlan).toMatchObject({ brakes: [], table: [] });
    expect(stage.model.requests().filter(({ method }) => method !== 'GET')).toEqual([]);
  });

  test('S2: keeps no ID in a row of another record when rows are sorted in the same moment', async () => {
    const stage = await openFilled();
    await stage.setSheetFaults({
      beforeNextWrite: [{ kind: 'sort', sheet: 'Leads', column: 'Title', descending: true }],
    });
    await adoptRows(stage.link, 'Title');
    expect(await shownIds(stage)).toEqual(await trueIds(stage));
  });

  test('S5: is not taken over where its own numbers stand as IDs: nothing is written, and a person is asked first', async () => {
    const stage = await openFilled();
    const ids = (await stage.readCrm()).leads.map(({ id }) => [String(id)]).toReversed();
    await stage.editSheet(
      { kind: 'paste', sheet: 'Leads', row: 1, column: 'ID', rows: ids },
      { kind: 'edit', sheet: 'Leads', row: 1, column: 'Website', text: 'https://of-another.example' },
    );
    const before = await stage.readSheet();
    const [adoption] = await adoptRows(stage.link, 'Title');
    expect([adoption?.identified, adoption?.unclear.length]).toEqual([0, 6]);
    const engine = stage.createEngine();
    for (const _cycle of Array.from({ length: 3 })) await engine.cycle();
    expect(engine.lastPlan).toMatchObject({
      brakes: [
        { scope: 'brake:lead:rebase', reason: expect.stringContaining('or has an ID column of its own') },
      ],
      outbox: { save: [] },
    });
    expect((await stage.readSheet())['Leads']).toEqual(before['Leads']);
  });

  test('gets the IDs of its contacts too, which nobody has read before', async () => {
    const stage = await openLinkStage({ leads: 3, opportunities: 0, tasks: 0 });
    const engine = stage.createEngine({ entities });
    const { link } = engine;
    await pullCatalog(link, 'newest');
    await link.table.layOut(currentLayout(link), 'create');
    const emails = stage.model.records.leads.live().map(({ id }) => {
      const body = JSON.stringify({ full_name: `Contact of ${id}`, email: `${id}@example.com` });
      stage.model.applyByHand(Date.now(), { method: 'POST', path: `/leads/${id}/contacts`, body });
      return [`${id}@example.com`];
    });
    await stage.editSheet({ kind: 'paste', sheet: 'Contacts', row: 1, column: 'E-mail', rows: emails });
    const read: string[] = [];
    await readCandidates(engine, engine.link, 'E-mail', (entity, count, isWhole) => {
      if (isWhole) read.push(`${count} ${entity}`);
    });
    expect(read).toContain('3 contact');
    const [adoption] = await planAdoption(link, 'E-mail');
    expect(adoption).toMatchObject({ title: 'Contacts', identified: 0, unclear: [] });
    expect(adoption?.matches).toHaveLength(3);
  });

  test('is matched without a look at contacts by a column that their tab does not have', async () => {
    const stage = await openFilled();
    const engine = stage.createEngine({ entities });
    await readCandidates(engine, engine.link, 'Title', () => undefined);
    expect(stage.model.requests().filter(({ path }) => path.includes('/contacts'))).toEqual([]);
  });

  test('is not matched by a column that no tab has', async () => {
    const { link } = await openFilled();
    await expect(planAdoption(link, 'Nickname')).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message: expect.stringMatching(/^No tab has a column “Nickname” to match by\. Leads has Title, /),
    });
  });
});
