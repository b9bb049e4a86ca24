import { expect, test } from 'vitest';
import type { Range, SheetsClient } from '../../src/sheets/client.ts';
import { readAllKept } from '../../src/sheets/reply.ts';

test('what became of a write to all rows of a very long tab can be asked for after its reply was lost', async () => {
  const asked: Range[] = [];
  const client: SheetsClient = {
    async get(_fields, ranges = []) {
      asked.push(...ranges);
      return { sheets: [] };
    },
    watch: () => async () => undefined,
    batchUpdate: async () => ({}),
  };
  const shadow = { sheetId: 9, title: 'Kept', rowCount: 400_000, columnCount: 26 };
  const slots = Array.from({ length: 300_000 }, (_, slot) => slot);
  const { rows } = await readAllKept(client, shadow, { run: 'w1', from: 0 }, slots);
  expect(rows.size).toBe(0);
  expect(asked).toEqual(["'Kept'!1:300005"]);
});
