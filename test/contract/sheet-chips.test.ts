import { afterEach, expect, test } from 'vitest';
import { textCell } from '../../src/sheet/port/cell.ts';
import { openSandboxSheet, type SandboxSheet } from '../support/sandbox-sheet.ts';
import { appendStep, deleteStep, setStep, writeSteps } from '../support/table-steps.ts';

let sheet: SandboxSheet;

afterEach(() => sheet.close());

const columns = ['title', 'status_name', 'about.url', 'custom.vip', 'custom.met', 'created_at'];

test.each(['placeholder', 'shown'] as const)(
  'a smart chip is read as one in a column of every kind, and writes beside it leave it (reads as %s)',
  async (chipText) => {
    sheet = await openSandboxSheet({ choices: { '*': { chipText } } });
    await sheet.fill('1', '2', '3');
    const chips = [{ email: 'ada@example.com' }];
    const places = [1, 3, 4, 5, 6, 7, 10];
    await sheet.person(
      ...places.map((column) => ({ kind: 'insertChips' as const, sheet: 'Leads', row: 2, column, chips })),
      { kind: 'insertChips', sheet: 'Leads', row: 2, column: 11, text: 'with @ and more', chips },
    );
    const chipped = async () =>
      (await sheet.readTab()).rows.find(({ id }) => id.kind === 'text' && id.text === '2');
    expect(Object.entries((await chipped())?.cells ?? {}).map(([name, { kind }]) => [name, kind])).toEqual(
      columns.map((name) => [name, 'chip']),
    );
    const sync = { sync: textCell('Held: …') };
    const reply = await writeSteps(sheet.table, [
      { ...setStep(2, textCell('2'), {}), ...sync },
      appendStep('4'),
      deleteStep(1, '1'),
    ]);
    expect([...reply.done.keys()]).toEqual([0, 1, 2]);
    expect((await chipped())?.sync).toEqual(sync.sync);
    const [leads] = (await sheet.readEverything()).sheets ?? [];
    const row = leads?.data?.[0]?.rowData?.[1]?.values ?? [];
    expect(row.flatMap(({ chipRuns }, column) => (chipRuns ? [column] : []))).toEqual([...places, 11]);
  },
);
