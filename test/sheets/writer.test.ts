import { expect, test } from 'vitest';
import { textCell } from '../../src/core/cell.ts';
import type { SetStep } from '../../src/core/table.ts';
import type { Request, SheetsClient } from '../../src/sheets/client.ts';
import type { BoundTab } from '../../src/sheets/read.ts';
import { createWriter } from '../../src/sheets/writer.ts';
import { createRecordingLog } from '../support/recording-log.ts';

test('a long tab is given back in parts that a request takes, where a write reached all of its rows by mistake', async () => {
  const rows = Array.from({ length: 65_000 }, (_, index) => [textCell(String(index)), textCell('Written')]);
  const headers = ['ID', 'Title'];
  const tab: BoundTab = {
    sheetId: 7,
    title: 'Tasks',
    rowCount: rows.length + 1,
    columnCount: 26,
    columns: {
      id: 0,
      sync: undefined,
      fields: new Map([['title', { index: 1, kind: 'text', header: 'Title' }]]),
    },
    rows: [headers.map(textCell), ...rows],
    typed: [],
    tables: [],
    hiddenRows: new Set(),
  };
  const sent: Request[] = [];
  const client: SheetsClient = {
    get: async () => undefined,
    watch: () => async () => undefined,
    async batchUpdate(requests) {
      for (const request of requests) sent.push(request);
      return {};
    },
  };
  const writer = createWriter(client, createRecordingLog());
  writer.start(
    new Map([['task', tab]]),
    { sheetId: 9, title: 'Kept', rowCount: 1_000, columnCount: 26 },
    undefined,
  );
  const steps = rows.map(([idSeen = textCell('')], index): SetStep => {
    const title = textCell(`Task ${index}`);
    const place = { headers, columns: { title: 1 }, cells: [idSeen, title] };
    return { kind: 'set', entity: 'task', position: index + 1, idSeen, cells: { title }, place };
  });
  await writer.write(steps);
  const given = sent.flatMap(({ updateCells }) => updateCells?.rows ?? []);
  expect(given).toHaveLength(rows.length);
});
