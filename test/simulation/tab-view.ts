import type { FieldName } from '../../src/core/value.ts';
import { formattedValue } from '../../src/sandbox/sheets/display/display.ts';
import type { Sheet } from '../../src/sandbox/sheets/spreadsheet.ts';
import type { Layout } from '../../src/sheet/port/layout.ts';
import { sheetIds } from './spreadsheet.ts';
import type { Stage } from './stage.ts';

export const tabEntities = ['lead', 'task'] as const;
export type TabEntity = (typeof tabEntities)[number];

/** What only the daemon writes, where it stands in another column than its own. */
export const ourWords = /^(Synced \d|Pending: |Held: |Error: |Conflict: |New row: |new-0)/;

/** Header of the column that people keep for themselves: whom a row is about. */
export const ownerHeader = 'Mine';
/** Another one, with formulas. */
export const formulaHeader = 'Sum';
/** A third one, in a tab with a rule, for notes that keep a row there. */
export const noteHeader = 'Note';

/** Fields that people type unique values into. */
export const typedFields: Readonly<Record<TabEntity, readonly FieldName[]>> = {
  lead: ['title', 'about.description', 'about.url', 'custom.city', 'custom.budget'],
  task: ['title', 'description'],
};

/** A row as a person sees it. */
export interface SeenRow {
  readonly position: number;
  readonly id: string;
  readonly sync: string;
  /** What the person's own column says the row is about. */
  readonly owner: string;
  readonly cells: Readonly<Record<FieldName, string>>;
}

/** A tab as a person sees it. */
export interface TabView {
  readonly entity: TabEntity;
  readonly sheet: Sheet;
  readonly sheetId: number;
  /** Where a header stands now; undefined where it does not stand anywhere, or twice. */
  columnOf(header: string): number | undefined;
  columnOfField(field: FieldName): number | undefined;
  /** Rows below the header that hold anything. */
  readonly rows: readonly SeenRow[];
  readonly headers: readonly string[];
}

export function lookAtTab(stage: Stage, layout: Layout, entity: TabEntity): TabView | undefined {
  const sheet = stage.spreadsheet.current().sheets.find(({ sheetId }) => sheetId === sheetIds[entity]);
  const tab = layout.find((candidate) => candidate.entity === entity);
  if (!sheet || !tab) return undefined;
  const width = sheet.columnProperties.length;
  const headers = Array.from({ length: width }, (_, column) => formattedValue(sheet.rows[0]?.[column]));
  const columnOf = (header: string) => {
    const column = headers.indexOf(header);
    return column < 0 || headers.lastIndexOf(header) !== column ? undefined : column;
  };
  const columns = tab.columns.map(({ field, header }) => [field, columnOf(header)] as const);
  const byField = new Map(columns);
  const [id, sync, owner] = [columnOf('ID'), columnOf('Sync'), columnOf(ownerHeader)];
  const textAt = (position: number, column: number | undefined) =>
    column === undefined ? '' : formattedValue(sheet.rows[position]?.[column]);
  // A number that shows as a date because of a format that a write left there is still the number.
  const idAt = (position: number) => {
    const cell = id === undefined ? undefined : sheet.rows[position]?.[id];
    return String(cell?.userEnteredValue?.numberValue ?? formattedValue(cell));
  };
  const rows = sheet.rows.flatMap((cells, position): SeenRow[] => {
    if (position === 0 || !cells.some((cell) => cell?.userEnteredValue)) return [];
    const shown = columns.map(([field, column]) => [field, textAt(position, column)] as const);
    return [
      {
        position,
        id: idAt(position),
        sync: textAt(position, sync),
        // What a write put there by mistake names nobody.
        owner: /^R\d+$/.test(textAt(position, owner)) ? textAt(position, owner) : '',
        cells: Object.fromEntries(shown),
      },
    ];
  });
  return {
    entity,
    sheet,
    sheetId: sheet.sheetId,
    columnOf,
    columnOfField: (field) => byField.get(field),
    rows,
    headers,
  };
}
