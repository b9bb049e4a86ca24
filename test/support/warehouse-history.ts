import { expect } from 'vitest';
import { listedEntities } from '../../src/core/record.ts';
import type { TestDatabase } from './postgres.ts';

/** Fails where the history of a record has a gap, an overlap or a version twice, or where its newest is not the row of now. */
export async function expectWholeHistory(database: TestDatabase): Promise<void> {
  for (const entity of listedEntities) {
    const broken = await database.query(
      `SELECT id, valid_from, valid_until, next_from, ended FROM (
         SELECT *, lead(valid_from) OVER w AS next_from, row_number() OVER (PARTITION BY id, valid_from) AS copy
           FROM crm.${entity}_history WINDOW w AS (PARTITION BY id ORDER BY valid_from)) v
        WHERE copy > 1
           OR valid_until <= valid_from
           OR (next_from IS NOT NULL AND ended = 'changed' AND valid_until IS DISTINCT FROM next_from)
           OR (next_from IS NOT NULL AND valid_until IS NULL)
           OR (next_from IS NULL AND ended = 'changed')`,
    );
    expect({ entity, broken }).toEqual({ entity, broken: [] });
  }
}
