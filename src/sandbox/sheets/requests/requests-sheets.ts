import { z } from 'zod';
import { storedColors } from '../display/colors.ts';
import { deleteLines, lineCount } from '../grid/dimensions.ts';
import {
  createSheet,
  type Dimension,
  draftOfSheet,
  growColumns,
  growRows,
  type NextId,
  OVERLAY_LISTS,
  type Overlay,
  type Sheet,
  type Spreadsheet,
  sheetByTitle,
  sizeOf,
  wholeSheetById,
} from '../spreadsheet.ts';
import { sheetProperties } from '../spreadsheet-resource.ts';
import { type FieldMask, maskOf, mergeFields } from '../wire/field-mask.ts';
import { invalidArgument } from '../wire/google-error.ts';
import { isJsonObject, type JsonObject, withoutDefaults } from '../wire/json.ts';
import { refuseGrowth } from './growth.ts';
import { parseRequest, type RequestKind, requestKind, requiredMask } from './request-kind.ts';
import { fields, int32, jsonObject } from './request-shapes.ts';

const addSheet = requestKind(
  z.object({ properties: jsonObject.default({}) }),
  (draft, { properties }, nextId) => {
    const { title, index, sheetId } = properties;
    const chosenTitle = typeof title === 'string' && title !== '' ? title : freeTitle(draft);
    refuseTitle(draft, chosenTitle);
    const sheet = createSheet(
      typeof sheetId === 'number' ? sheetId : freeSheetId(draft, nextId),
      chosenTitle,
      {},
      draft.properties.locale,
    );
    if (draft.sheets.filter((other) => other.sheetId === sheet.sheetId).length > 0) {
      throw invalidArgument(`Sheet ID ${sheet.sheetId} already exists.`);
    }
    refuseGrowth(draft, undefined, sizeOf(sheet));
    writeSheetProperties(draft, sheet, properties, new Map());
    draft.sheets.splice(typeof index === 'number' ? index : draft.sheets.length, 0, sheet);
    return { properties: sheetProperties(sheet, draft.sheets.indexOf(sheet)) };
  },
);

const deleteSheet = requestKind(z.object({ sheetId: int32.default(0) }), (draft, { sheetId }) => {
  const sheet = wholeSheetById(draft, sheetId);
  if (draft.sheets.length === 1) throw invalidArgument("You can't remove all the sheets in a document.");
  const isLastVisible = draft.sheets.every((other) => other === sheet || other.properties['hidden'] === true);
  if (isLastVisible) throw invalidArgument("You can't remove all the visible sheets in a document.");
  draft.sheets = draft.sheets.filter((other) => other !== sheet);
  draft.namedRanges = draft.namedRanges.filter(({ ranges }) => (ranges[0]?.sheetId ?? 0) !== sheetId);
  draft.developerMetadata = draft.developerMetadata.filter((metadata) => metadata.sheetId !== sheetId);
  return undefined;
});

const duplicateSheet = requestKind(
  z.object({
    sourceSheetId: int32.default(0),
    insertSheetIndex: z.number().int().nonnegative().default(0),
    newSheetId: z.number().int().optional(),
    // An empty name is none.
    newSheetName: z
      .string()
      .transform((name) => name || undefined)
      .optional(),
  }),
  (draft, { sourceSheetId, insertSheetIndex, newSheetId, newSheetName }, nextId) => {
    if (newSheetName !== undefined) refuseTitle(draft, newSheetName);
    refuseGrowth(draft, undefined, sizeOf(wholeSheetById(draft, sourceSheetId)));
    const copy = copyOfSheet(wholeSheetById(draft, sourceSheetId), draft, nextId, newSheetId);
    copy.title = newSheetName ?? copy.title;
    draft.sheets.splice(insertSheetIndex, 0, copy);
    return { properties: sheetProperties(copy, draft.sheets.indexOf(copy)) };
  },
);

/** A copy of a tab under a title and ids that are free in the spreadsheet it goes to. */
export function copyOfSheet(
  source: Sheet,
  destination: Spreadsheet,
  nextId: NextId,
  sheetId = freeSheetId(destination, nextId),
): Sheet {
  const { locale } = destination.properties;
  const copy = { ...draftOfSheet(source), locale, sheetId, title: freeCopyTitle(destination, source.title) };
  const moved = (overlay: Overlay): Overlay => ({
    ...overlay,
    id: nextId(),
    ranges: overlay.ranges.map((range) => ({ ...range, sheetId })),
  });
  for (const list of OVERLAY_LISTS) copy[list] = copy[list].map(moved);
  return copy;
}

const updateSheetProperties = requestKind(
  z.object({ properties: jsonObject.default({}), fields }),
  (draft, { properties, fields: maskText }) => {
    const mask = requiredMask(maskText);
    const sheet = wholeSheetById(draft, Number(properties['sheetId'] ?? 0));
    const { title, index } = properties;
    if (maskOf(mask, 'title') && typeof title === 'string' && title !== sheet.title) {
      refuseTitle(draft, title, sheet);
      sheet.title = title;
    }
    writeSheetProperties(draft, sheet, properties, mask);
    if (draft.sheets.every((other) => other.properties['hidden'] === true)) {
      throw invalidArgument("You can't hide all the sheets in a document.");
    }
    if (maskOf(mask, 'index') && typeof index === 'number') moveSheet(draft, sheet, index);
    return undefined;
  },
);

/** Google counts the new index before the tab is taken out of its old place. */
function moveSheet(draft: Spreadsheet, sheet: Sheet, index: number): void {
  const current = draft.sheets.indexOf(sheet);
  const others = draft.sheets.filter((other) => other !== sheet);
  draft.sheets = others.toSpliced(index > current ? index - 1 : index, 0, sheet);
}

const POSITIONAL = ['sheetId', 'title', 'index', 'sheetType', 'gridProperties'];

function writeSheetProperties(
  draft: Spreadsheet,
  sheet: Sheet,
  properties: JsonObject,
  mask: FieldMask,
): void {
  const grid = properties['gridProperties'];
  const gridMask = maskOf(mask, 'gridProperties');
  if (gridMask && isJsonObject(grid)) writeGridProperties(draft, sheet, grid, gridMask);
  const free = Object.fromEntries(Object.entries(properties).filter(([name]) => !POSITIONAL.includes(name)));
  const freeMask = new Map([...mask].filter(([name]) => !POSITIONAL.includes(name)));
  if (mask.size > 0 && freeMask.size === 0) return;
  sheet.properties = withoutDefaults(mergeFields(sheet.properties, storedColors(free), freeMask));
}

const gridShape = z.looseObject({
  rowCount: int32.optional(),
  columnCount: int32.optional(),
  frozenRowCount: int32.optional(),
  frozenColumnCount: int32.optional(),
});

function writeGridProperties(draft: Spreadsheet, sheet: Sheet, sent: JsonObject, mask: FieldMask): void {
  const { rowCount, columnCount, ...free } = jsonObject.parse(parseRequest(gridShape, sent));
  if (maskOf(mask, 'rowCount') && typeof rowCount === 'number') resize(draft, sheet, 'ROWS', rowCount);
  if (maskOf(mask, 'columnCount') && typeof columnCount === 'number') {
    resize(draft, sheet, 'COLUMNS', columnCount);
  }
  const freeMask = new Map([...mask].filter(([name]) => name !== 'rowCount' && name !== 'columnCount'));
  if (mask.size > 0 && freeMask.size === 0) return;
  sheet.gridProperties = withoutDefaults(mergeFields(sheet.gridProperties, free, freeMask));
  const { rowCount: rows, columnCount: columns } = sizeOf(sheet);
  for (const [name, count, lines] of [
    ['frozenRowCount', rows, 'rows'],
    ['frozenColumnCount', columns, 'columns'],
  ] as const) {
    if (Number(sheet.gridProperties[name] ?? 0) < count) continue;
    throw invalidArgument(`You can't freeze all visible ${lines} on the sheet.`);
  }
}

function resize(draft: Spreadsheet, sheet: Sheet, dimension: Dimension, count: number): void {
  if (count < 1) throw invalidArgument(`You can't delete all the ${dimension.toLowerCase()} on the sheet.`);
  const current = lineCount(sheet, dimension);
  refuseGrowth(draft, sheet, {
    ...sizeOf(sheet),
    [dimension === 'ROWS' ? 'rowCount' : 'columnCount']: count,
  });
  if (count < current) deleteLines(draft, sheet, { dimension, start: count, count: current - count });
  else if (dimension === 'ROWS') growRows(sheet, count - current);
  else growColumns(sheet, count - current);
}

const MAX_TITLE_LENGTH = 100;

function refuseTitle(draft: Spreadsheet, title: string, except?: Sheet): void {
  if (title.length > MAX_TITLE_LENGTH) {
    throw invalidArgument(`The sheet name cannot be greater than ${MAX_TITLE_LENGTH} characters.`);
  }
  const taken = sheetByTitle(draft, title);
  if (!taken || taken === except) return;
  throw invalidArgument(`A sheet with the name "${title}" already exists. Please enter another name.`);
}

function freeTitle(draft: Spreadsheet): string {
  let number = draft.sheets.length + 1;
  while (sheetByTitle(draft, `Sheet${number}`)) number += 1;
  return `Sheet${number}`;
}

function freeCopyTitle(draft: Spreadsheet, title: string): string {
  let copy = `Copy of ${title}`;
  for (let number = 2; sheetByTitle(draft, copy); number += 1) copy = `Copy of ${title} ${number}`;
  return copy;
}

function freeSheetId(draft: Spreadsheet, nextId: NextId): number {
  const candidate = nextId();
  return draft.sheets.some((sheet) => sheet.sheetId === candidate) ? freeSheetId(draft, nextId) : candidate;
}

const updateSpreadsheetProperties = requestKind(
  z.object({ properties: jsonObject.default({}), fields }),
  (draft, { properties, fields: maskText }) => {
    const mask = requiredMask(maskText);
    const merged = mergeFields(draft.properties, properties, mask);
    const text = (name: 'title' | 'locale' | 'timeZone') => String(merged[name] ?? draft.properties[name]);
    draft.properties = {
      ...merged,
      title: text('title'),
      locale: text('locale'),
      timeZone: text('timeZone'),
    };
    draft.sheets = draft.sheets.map((sheet) => ({ ...sheet, locale: text('locale') }));
    return undefined;
  },
);

export const SHEET_REQUESTS: Record<string, RequestKind> = {
  addSheet,
  deleteSheet,
  duplicateSheet,
  updateSheetProperties,
  updateSpreadsheetProperties,
};
