import { z } from 'zod';
import { areaOf, areasOverlap, rangeOf } from '../grid/grid-range.ts';
import { resolveGridRange } from '../grid/range-reference.ts';
import { sortArea } from '../grid/ranges.ts';
import { filterJson, overlayJson, protectedRangeJson } from '../overlay-json.ts';
import { type Overlay, type Sheet, type Spreadsheet, sheetById, sizeOf } from '../spreadsheet.ts';
import { tableIdOf } from '../tables.ts';
import { mergeFields } from '../wire/field-mask.ts';
import { invalidArgument } from '../wire/google-error.ts';
import { isJsonObject, type JsonObject, withoutDefaults } from '../wire/json.ts';
import { type RequestKind, requestKind, requiredMask } from './request-kind.ts';
import { fields, gridRange, jsonObject } from './request-shapes.ts';
import { sortKeysOf } from './requests-ranges.ts';
import { dropTable } from './requests-tables.ts';

type OverlayList = 'protectedRanges' | 'bandedRanges' | 'filterViews';

/** Takes the range out of the sent object: an overlay keeps it apart, so that it moves with the cells. */
export function overlayFrom(id: number, sent: JsonObject): Overlay {
  const { range, ...rest } = sent;
  const parsed = gridRange.safeParse(range ?? {});
  if (!parsed.success) throw invalidArgument('Invalid range.');
  return { ...rest, id, ranges: [parsed.data] };
}

/** The account that makes a protection is always among those who may edit. */
function withEditor({ requestingUserCanEdit: _, ...sent }: JsonObject, account: string): JsonObject {
  if (sent['warningOnly'] === true) return sent;
  const editors = filledLists(sent['editors']);
  const users = Array.isArray(editors['users']) ? editors['users'] : [];
  return { ...sent, editors: { ...editors, users: [...new Set([...users, account])] } };
}

/** The reply still shows the editors as they were sent; a later read shows who may edit. */
function protectedRangeReply(overlay: Overlay, sent: JsonObject): JsonObject {
  const shown = protectedRangeJson(overlay);
  return shown['editors'] === undefined ? shown : { ...shown, editors: filledLists(sent['editors']) };
}

function filledLists(sent: unknown): JsonObject {
  const members = isJsonObject(sent) ? Object.entries(sent) : [];
  return Object.fromEntries(members.filter(([, list]) => !Array.isArray(list) || list.length > 0));
}

function sheetOf(draft: Spreadsheet, overlay: Overlay): Sheet {
  const range = overlay.ranges[0] ?? {};
  return resolveGridRange(draft, range).sheet;
}

function withOverlay(draft: Spreadsheet, list: OverlayList, id: number): { sheet: Sheet; overlay: Overlay } {
  for (const sheet of draft.sheets) {
    const overlay = sheet[list].find((candidate) => candidate.id === id);
    if (overlay) return { sheet, overlay };
  }
  throw invalidArgument(`No ${list.replace(/s$/, '').replace(/[A-Z]/g, ' $&').toLowerCase()} with id: ${id}`);
}

function refuseTwoBands(sheet: Sheet, overlay: Overlay): void {
  const areasOf = ({ ranges }: Overlay) => ranges.map((range) => areaOf(range, sizeOf(sheet)));
  const taken = [...sheet.bandedRanges, ...sheet.tables].flatMap(areasOf);
  if (areasOf(overlay).some((area) => taken.some((other) => areasOverlap(area, other)))) {
    throw invalidArgument(
      'You cannot add alternating background colors to a range that already has alternating background colors.',
    );
  }
}

/** The three requests to add, change and delete something with a numeric id of its own. */
function overlayRequests(
  list: OverlayList,
  noun: string,
  member: string,
  idName: string,
  show: (overlay: Overlay, sent: JsonObject) => JsonObject,
  complete: (sent: JsonObject, account: string) => JsonObject = (sent) => sent,
) {
  const sentShape = z.object({ [member]: jsonObject });
  const add = requestKind(sentShape, (draft, request, nextId, account) => {
    const { [idName]: chosenId, ...sent } = request[member] ?? {};
    const id = typeof chosenId === 'number' ? chosenId : nextId();
    const overlay = overlayFrom(id, complete(withoutDefaults(sent), account));
    const sheet = sheetOf(draft, overlay);
    if (list === 'bandedRanges') refuseTwoBands(sheet, overlay);
    sheet[list].push(overlay);
    return { [member]: show(overlay, sent) };
  });
  const update = requestKind(sentShape.extend({ fields }), (draft, request) => {
    const sent = request[member];
    if (!isJsonObject(sent)) throw invalidArgument(`${member} is required.`);
    const mask = requiredMask(String(request['fields']));
    const { sheet, overlay } = withOverlay(draft, list, Number(sent[idName]));
    const { id, ranges, ...rest } = overlay;
    const changed = overlayFrom(id, mergeFields({ ...rest, range: ranges[0] ?? {} }, sent, mask));
    sheet[list] = sheet[list].map((candidate) => (candidate === overlay ? changed : candidate));
    return undefined;
  });
  const remove = requestKind(jsonObject, (draft, request) => {
    if (list === 'bandedRanges' && unbandTable(draft, String(request[idName]))) return undefined;
    const { sheet, overlay } = withOverlay(draft, list, Number(request[idName] ?? request['filterId']));
    sheet[list] = sheet[list].filter((candidate) => candidate !== overlay);
    return undefined;
  });
  return { [`add${noun}`]: add, [`update${noun}`]: update, [`delete${noun}`]: remove };
}

const duplicateFilterView = requestKind(
  z.object({ filterId: z.number().int() }),
  (draft, { filterId }, nextId) => {
    const { sheet, overlay } = withOverlay(draft, 'filterViews', filterId);
    const copy = { ...overlay, id: nextId(), title: `Copy of ${String(overlay['title'] ?? '')}` };
    sheet.filterViews.push(copy);
    return { filter: filterJson(copy) };
  },
);

/** A table without its bands is none any more; its cells stay. */
function unbandTable(draft: Spreadsheet, tableId: string): boolean {
  for (const sheet of draft.sheets) {
    const table = sheet.tables.find((candidate) => tableIdOf(candidate) === tableId);
    if (table) dropTable(sheet, table);
    if (table) return true;
  }
  return false;
}

/** A basic filter hides nothing here, but its sort order is applied to the rows, as Google does. */
const setBasicFilter = requestKind(z.object({ filter: jsonObject }), (draft, { filter }, nextId) => {
  const sent = overlayFrom(nextId(), filter);
  const { sheet, area } = resolveGridRange(draft, sent.ranges[0] ?? {});
  const overlay = { ...sent, ranges: [rangeOf(sheet.sheetId, area)] };
  sheet.basicFilter = [overlay];
  const specs = z.array(jsonObject).safeParse(filter['sortSpecs'] ?? []);
  if (specs.success && specs.data.length > 0) {
    sortArea(draft, sheet, { ...area, startRow: area.startRow + 1 }, sortKeysOf(specs.data));
  }
  return undefined;
});

const clearBasicFilter = requestKind(
  z.object({ sheetId: z.number().int().default(0) }),
  (draft, { sheetId }) => {
    sheetById(draft, sheetId).basicFilter = [];
    return undefined;
  },
);

export const OVERLAY_REQUESTS: Record<string, RequestKind> = {
  ...overlayRequests(
    'protectedRanges',
    'ProtectedRange',
    'protectedRange',
    'protectedRangeId',
    protectedRangeReply,
    withEditor,
  ),
  ...overlayRequests('bandedRanges', 'Banding', 'bandedRange', 'bandedRangeId', (overlay) =>
    overlayJson(overlay, 'bandedRangeId'),
  ),
  ...overlayRequests('filterViews', 'FilterView', 'filter', 'filterViewId', filterJson),
  duplicateFilterView,
  setBasicFilter,
  clearBasicFilter,
};
