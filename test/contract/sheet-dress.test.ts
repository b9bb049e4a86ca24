import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { emptyCatalog } from '../../src/core/fields/catalog.ts';
import { buildLayout } from '../../src/sheet/policy.ts';
import { textCell } from '../../src/sheet/port/cell.ts';
import { planQuestionRows } from '../../src/sheet/questions/question-rows.ts';
import { policyWith } from '../support/policy.ts';
import { openSandboxSheet, type SandboxSheet } from '../support/sandbox-sheet.ts';
import { writeSteps } from '../support/table-steps.ts';

/** How tabs look that were just made. */

const catalog = {
  ...emptyCatalog,
  leadStatuses: [
    { name: 'new', label: 'New', color: '#ff0000' },
    { name: 'sum', label: '=1+1', color: '#00ff00' },
  ],
  customFields: [
    { key: 'budget', name: 'Yearly budget (€)', kind: 'number', options: [] },
    { key: 'rate', name: 'Rate', kind: 'number', options: [] },
  ],
} as const;

const layout = buildLayout(
  ['lead', 'opportunity', 'task'],
  { ...policyWith(), questionsTitle: 'Conflicts' },
  catalog,
);

let sheet: SandboxSheet;

beforeEach(async () => {
  sheet = await openSandboxSheet();
  await sheet.table.layOut(layout, 'create');
});

afterEach(() => sheet.close());

async function tabOf(title: string) {
  const { sheets = [] } = await sheet.readEverything();
  const tab = sheets.find(({ properties }) => properties?.title === title);
  const data = tab?.data?.[0];
  const [headers = {}, ...rows] = data?.rowData ?? [];
  const names = (headers.values ?? []).map(({ formattedValue }) => formattedValue ?? '');
  const widths = names.map((_, column) => data?.columnMetadata?.[column]?.pixelSize ?? 0);
  const isHidden = names.map((_, column) => data?.columnMetadata?.[column]?.hiddenByUser === true);
  const cellOf = (row: number, name: string) => rows[row]?.values?.[names.indexOf(name)] ?? {};
  return { tab, names, widths, isHidden, cellOf };
}

const sum = (numbers: readonly number[]): number => numbers.reduce((all, each) => all + each, 0);

describe('a new tab of records', () => {
  test.each(['Leads', 'Opportunities', 'Tasks'])(
    '%s leaves a phone room beside what is frozen',
    async (title) => {
      const { names, tab, widths } = await tabOf(title);
      const frozen = tab?.properties?.gridProperties?.frozenColumnCount ?? 0;
      expect(names.slice(0, 3)).toEqual(['ID', title === 'Opportunities' ? 'Lead' : 'Title', 'Sync']);
      expect(frozen).toBe(2);
      expect(sum(widths.slice(0, frozen))).toBeLessThanOrEqual(300);
    },
  );

  test('shows what is said of a row as a whole, and has a filter', async () => {
    const { cellOf, names, tab, widths } = await tabOf('Leads');
    expect(widths[names.indexOf('Sync')]).toBe(320);
    expect(cellOf(0, 'Sync').userEnteredFormat?.wrapStrategy).toBe('WRAP');
    expect(tab?.basicFilter?.range).toBeDefined();
  });

  test('tells columns apart that nobody can edit', async () => {
    const { cellOf } = await tabOf('Leads');
    expect(cellOf(0, 'Created').userEnteredFormat?.backgroundColor).toBeDefined();
    expect(cellOf(0, 'Title').userEnteredFormat?.backgroundColor).toBeUndefined();
  });

  test('writes amounts of money as such, and no other numbers', async () => {
    const leads = await tabOf('Leads');
    const money = { type: 'NUMBER', pattern: '#,##0.00' };
    expect(leads.cellOf(0, 'Yearly budget (€)').userEnteredFormat?.numberFormat).toEqual(money);
    expect(leads.cellOf(0, 'Rate').userEnteredFormat?.numberFormat).toBeUndefined();
    const { cellOf } = await tabOf('Opportunities');
    expect(cellOf(0, 'Value').userEnteredFormat?.numberFormat).toEqual(money);
    expect(cellOf(0, 'Confidence').userEnteredFormat?.numberFormat).toBeUndefined();
  });

  test('has cells marked that hold no date and no number in range', async () => {
    const { cellOf } = await tabOf('Opportunities');
    expect(cellOf(0, 'Expected close').dataValidation?.condition?.type).toBe('DATE_IS_VALID');
    expect(cellOf(0, 'Confidence').dataValidation).toMatchObject({
      condition: {
        type: 'NUMBER_BETWEEN',
        values: [{ userEnteredValue: '0' }, { userEnteredValue: '100' }],
      },
    });
    expect(cellOf(0, 'Created').dataValidation).toBeUndefined();
  });

  test('gives statuses the colours of the CRM, and those that read like formulas none', async () => {
    const { names, tab } = await tabOf('Leads');
    const rules = (tab?.conditionalFormats ?? []).filter(
      ({ ranges }) => ranges?.[0]?.startColumnIndex === names.indexOf('Status'),
    );
    expect(rules.map(({ booleanRule }) => booleanRule?.condition?.values)).toEqual([
      [{ userEnteredValue: 'New' }],
    ]);
    expect(rules[0]?.booleanRule?.format?.backgroundColorStyle?.rgbColor).toEqual({
      red: 1,
      green: 0.7,
      blue: 0.7,
    });
  });
});

describe('the tab of the questions', () => {
  const toDecide = ['Choose', 'What', 'Title', 'Field', 'CRM has', 'Sheet has', 'Agreed before'];

  test('shows all that it takes to choose on a screen of 1,366 pixels, and no id of the daemon', async () => {
    const { isHidden, names, tab, widths } = await tabOf('Conflicts');
    const rowNumbers = 46;
    expect(names.slice(0, toDecide.length)).toEqual(toDecide);
    expect(rowNumbers + sum(widths.slice(0, toDecide.length))).toBeLessThanOrEqual(1_366);
    expect(tab?.properties?.gridProperties?.frozenColumnCount).toBe(names.indexOf('Title') + 1);
    expect(names.filter((_, column) => isHidden[column])).toEqual(['ID']);
  });

  test('offers in each row the answers to its question, and none that it does not take', async () => {
    const { question: tab } = (await sheet.table.read(layout)).tabs;
    if (tab?.state !== 'read') throw new Error('There is no tab of questions.');
    const questions = ['conflict:lead-1:title', 'vanished:lead-2', 'held:lead'].map((scope) => ({
      scope,
      cells: { what: textCell('What?') },
    }));
    const rules = { mayReturn: () => false, timeZone: 'UTC', now: 0, appendsMax: 100 };
    await writeSteps(
      sheet.table,
      planQuestionRows({ tab, questions, ...rules }).map(({ write }) => write),
    );
    const { cellOf } = await tabOf('Conflicts');
    const offered = [0, 1, 2].map((row) =>
      cellOf(row, 'Choose').dataValidation?.condition?.values?.map(
        ({ userEnteredValue }) => userEnteredValue,
      ),
    );
    expect(offered).toEqual([['CRM', 'Sheet'], ['Trash', 'Restore'], undefined]);
    await sheet.openTable().layOut(layout, 'refresh');
    const again = await tabOf('Conflicts');
    expect(again.cellOf(1, 'Choose')).toEqual(cellOf(1, 'Choose'));
  });
});
