import { expect, test } from 'vitest';
import { newSheetError } from '../../src/sheet/port/errors.ts';
import { expectEqualSides, goOn } from '../support/go-on.ts';
import { openLinkStage } from '../support/link-stage.ts';

/* Writes of so many rows that others get their turn between deciding them, sending them, and what follows from them. */

const leads = 700;

async function openMany() {
  const stage = await openLinkStage({ leads, opportunities: 0, tasks: 0 });
  const { mirror } = stage.link;
  const states = () => ({
    agreed: mirror.readAgreements().filter(({ fields }) => Object.keys(fields).length > 0).length,
    open: mirror.readOpenWrites().flatMap(({ confirms }) => confirms).length,
  });
  /** The mirror of an engine that is killed when the second part of what follows from a write is to become durable. */
  const killed = (): typeof mirror => {
    let parts = 0;
    return {
      ...mirror,
      appendJournal(entries) {
        if (entries.length > 1) parts += 1;
        if (parts === 2) throw newSheetError('SHEET_UNREACHABLE', 'Killed.');
        mirror.appendJournal(entries);
      },
    };
  };
  return { killed, mirror, stage, states };
}

test('S9: an engine that is killed in the middle of what follows from new rows leaves the rest to the next one', async () => {
  const { killed, stage, states } = await openMany();
  await expect(stage.fill({ mirror: killed() })).rejects.toThrow('Killed.');
  expect(states()).toEqual({ agreed: 350, open: 350 });
  await goOn(stage, stage.createEngine());
  expect(states()).toEqual({ agreed: leads, open: 0 });
  expect(await expectEqualSides(stage)).toHaveLength(leads);
});

test('S9: and so it does with changed rows, each of which is in the history once', async () => {
  const { killed, mirror, stage, states } = await openMany();
  const { brakes } = stage.link.policy;
  const policy = {
    ...stage.link.policy,
    brakes: { ...brakes, changesMin: 2 * leads, columnMin: 2 * leads },
    updatesMax: leads,
  };
  const engine = await stage.fill({ policy });
  for (const { id } of (await stage.readCrm()).leads)
    await stage.editCrm(`/leads/${id}`, { title: `Renamed ${id}` });
  await engine.pullAll(() => {});
  await expect(stage.createEngine({ mirror: killed(), policy }).cycle()).rejects.toThrow('Killed.');
  expect(states()).toEqual({ agreed: leads, open: 350 });
  await goOn(stage, stage.createEngine({ policy }));
  expect(states()).toEqual({ agreed: leads, open: 0 });
  const told = mirror
    .searchJournal({ limit: 3 * leads })
    .filter(({ after, side }) => side === 'table' && String(after['title']).startsWith('Renamed'));
  expect(told.map(({ key }) => key.id).toSorted()).toEqual(
    (await expectEqualSides(stage)).map(([id]) => String(id)).toSorted(),
  );
});

test.each([1, 2])(
  'S5: a write shows what changed in turn %d of others between its decision and itself',
  async (turn) => {
    const { mirror, stage } = await openMany();
    await stage.layOut();
    const { clock } = stage.link;
    let turns = 0;
    const sleep: typeof clock.sleep = async (durationMs, signal) => {
      const record = mirror.findRecord({ entity: 'lead', id: String(await firstId()) });
      if (durationMs === 0 && isCycling) turns += 1;
      if (turns === turn && record)
        mirror.saveRecord({ ...record, fields: { ...record.fields, title: 'Changed meanwhile' } });
      return clock.sleep(durationMs, signal);
    };
    const firstId = async () => (await stage.readCrm()).leads[0]?.id;
    let isCycling = false;
    const engine = stage.createEngine({ clock: { ...clock, sleep } });
    await engine.pullAll(() => {});
    isCycling = true;
    await engine.cycle();
    const id = await firstId();
    const row = (await stage.readSheet())['Leads']?.find(({ ID }) => ID === id);
    expect(row?.['Title']).toBe('Changed meanwhile');
  },
);
