import { expect, test } from 'vitest';
import type { Clock, Crm } from '../../src/core/ports.ts';
import type { Entity } from '../../src/core/record.ts';
import type { FieldName, Fields } from '../../src/core/value.ts';
import type { SheetLink } from '../../src/sheet/link.ts';
import { Problems } from '../../src/sync/problems.ts';
import { KeyRefusal } from '../../src/sync/reading/key-refusal.ts';
import { Puller } from '../../src/sync/reading/puller.ts';
import { changeCrm } from '../support/changed-crm.ts';
import { type LinkStage, openLinkStage } from '../support/link-stage.ts';

/* A CRM whose lists leave out parts of their records. */

const minuteMs = 60_000;
const limit = { timeout: 120_000 };

const without = (fields: Fields, isLeftOut: (name: FieldName) => boolean): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([name]) => !isLeftOut(name)));

/** What only a lead that is asked for alone tells. */
const isOfSingles = (name: FieldName) => /^(?:about|custom)\./.test(name);

/** The CRM whose list of leads leaves these out, and which notes whom it is asked for alone. */
function abridge(
  crm: Crm,
  isLeftOut: (name: FieldName) => boolean,
  asked: string[],
  isNeverTold = false,
): Crm {
  return changeCrm(crm, {
    async listRecords(entity, page, lane) {
      const answer = await crm.listRecords(entity, page, lane);
      if (entity !== 'lead') return answer;
      const records = answer.records.map((record) => ({
        ...record,
        fields: without(record.fields, isLeftOut),
      }));
      return { ...answer, records };
    },
    async getRecord(key, lane) {
      asked.push(key.id);
      const record = await crm.getRecord(key, lane);
      return record && isNeverTold ? { ...record, fields: without(record.fields, isLeftOut) } : record;
    },
  });
}

/** Lets a puller read for so long, in a time of its own. */
async function readFor({ link, log }: LinkStage, crm: Crm, durationMs: number): Promise<SheetLink> {
  const stopping = new AbortController();
  let elapsedMs = 0;
  const clock: Clock = {
    now: () => Date.now() + elapsedMs,
    monotonicMs: () => elapsedMs,
    async sleep(pauseMs) {
      elapsedMs += pauseMs;
      if (elapsedMs >= durationMs) stopping.abort();
    },
  };
  const times = { ...link.times, sweepMs: 3_000, readPauseMs: 2_000 };
  const problems = new Problems({ clock, log });
  const own = { ...link, clock, crm, times };
  const keyRefusal = new KeyRefusal(clock, problems);
  const puller = new Puller({
    link: own,
    problems,
    keyRefusal,
    onNews: () => undefined,
    onSwept: () => undefined,
  });
  stopping.signal.addEventListener('abort', () => void puller.stop());
  await puller.start();
  expect(problems.list()).toEqual([]);
  return own;
}

const fieldsOf = ({ mirror }: SheetLink, entity: Entity, id: string) =>
  mirror.findRecord({ entity, id })?.fields ?? {};

test('what lists leave out is read of each record alone', limit, async () => {
  const stage = await openLinkStage({ leads: 8, opportunities: 2, tasks: 2 });
  const asked: string[] = [];
  const link = await readFor(stage, abridge(stage.link.crm, isOfSingles, asked), minuteMs / 4);
  const told = stage.model.records.leads.live();
  for (const { id, meta_data, custom_fields } of told) {
    const fields = fieldsOf(link, 'lead', String(id));
    expect(fields['about.description']).toBe(meta_data?.about?.description ?? null);
    expect(fields['custom.city']).toBe(custom_fields['city'] ?? null);
  }
  expect(new Set(asked)).toEqual(new Set(told.map(({ id }) => String(id))));
});

test('a record that its list shows in another version is read again before its turn', limit, async () => {
  const stage = await openLinkStage({ leads: 8, opportunities: 2, tasks: 2 });
  const asked: string[] = [];
  const abridged = abridge(stage.link.crm, isOfSingles, asked);
  const crm = changeCrm(abridged, {
    async getRecord(key, lane) {
      if (asked.length === 8) await stage.editCrm(`/leads/${asked[7]}`, { custom_fields: { city: 'Ulm' } });
      return abridged.getRecord(key, lane);
    },
  });
  const link = await readFor(stage, crm, minuteMs);
  expect(fieldsOf(link, 'lead', asked[7] ?? '')['custom.city']).toBe('Ulm');
  expect(asked.slice(8).indexOf(asked[7] ?? '')).toBeLessThan(4);
});

test('what no record tells is looked for in three of them and no more', limit, async () => {
  const stage = await openLinkStage({ leads: 8, opportunities: 2, tasks: 2 });
  const asked: string[] = [];
  await readFor(stage, abridge(stage.link.crm, isOfSingles, asked, true), 10 * minuteMs);
  expect(asked).toHaveLength(3);
});

test('where lists tell everything no record is asked for alone', limit, async () => {
  const stage = await openLinkStage({ leads: 8, opportunities: 2, tasks: 2 });
  const asked: string[] = [];
  await readFor(
    stage,
    abridge(stage.link.crm, () => false, asked),
    minuteMs,
  );
  expect(asked).toEqual([]);
});
