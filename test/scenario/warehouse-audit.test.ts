import { describe, expect, test } from 'vitest';
import { openWarehouseEngine, type WarehouseEngine } from '../support/warehouse-engine.ts';

/** What only a superuser can do: a statement that the guards of the tables do not see. */
async function edit({ database }: WarehouseEngine, sql: string): Promise<void> {
  await database.query('ALTER TABLE crm.lead DISABLE TRIGGER USER');
  await database.query(sql);
  await database.query('ALTER TABLE crm.lead ENABLE ALWAYS TRIGGER ALL').catch(() => undefined);
}

describe('comparing all rows with the CRM', { timeout: 60_000 }, () => {
  test('W10: finds what differs and nothing else, keeps both values, and writes what the CRM has', async () => {
    const stage = await openWarehouseEngine();
    await stage.start();
    await stage.settled();
    const [first, second, third] = stage.model.records.leads.live();
    await edit(
      stage,
      `UPDATE crm.lead SET title = 'edited' WHERE id = ${first?.id};
       DELETE FROM crm.lead WHERE id = ${second?.id};
       INSERT INTO crm.lead (id, title) VALUES (9999999, 'nobody''s')`,
    );
    const { tables } = await stage.compare();
    expect(tables[0]).toEqual({ entity: 'lead', rows: 12, missing: 1, extra: 1, different: 1 });
    expect(tables.slice(1).map(({ different, extra, missing }) => different + extra + missing)).toEqual([
      0, 0,
    ]);
    await stage.settled();
    const lines = stage.mirror.searchJournal({ limit: 10 }).filter(({ kind }) => kind === 'repair');
    expect(lines.map(({ after, key, lost }) => [key.id, after['title'], lost['title']]).toSorted()).toEqual(
      [
        [String(first?.id), first?.title, 'edited'],
        [String(second?.id), second?.title, undefined],
        ['9999999', undefined, "nobody's"],
      ].toSorted(),
    );
    const again = await stage.compare();
    expect(again.tables.map(({ different, extra, missing }) => different + extra + missing)).toEqual([
      0, 0, 0,
    ]);
    expect(third).toBeDefined();
  });

  test('W2: sends nothing of what was found to the CRM', async () => {
    const stage = await openWarehouseEngine();
    await stage.start();
    await stage.settled();
    const before = stage.model.requests().filter(({ method }) => method !== 'GET').length;
    await edit(stage, "UPDATE crm.lead SET title = 'edited'");
    await stage.compare();
    await stage.settled();
    expect(stage.model.requests().filter(({ method }) => method !== 'GET')).toHaveLength(before);
  });
});
