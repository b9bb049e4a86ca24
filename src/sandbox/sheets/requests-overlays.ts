import { z } from 'zod';
import { mergeFields } from './field-mask.ts';
import { invalidArgument } from './google-error.ts';
import { rangeOf } from './grid-range.ts';
import { isJsonObject, type JsonObject, withoutDefaults } from './json.ts';
import { resolveGridRange } from './range-reference.ts';
import { sortArea } from './ranges.ts';
import { type RequestKind, requestKind, requiredMask } from './request-kind.ts';
import { fields, gridRange, jsonObject } from './request-shapes.ts';
import { sortKeysOf } from './requests-ranges.ts';
import type { NextId, Overlay, Sheet, Spreadsheet } from './spreadsheet.ts';
import { sheetById } from './spreadsheet.ts';
import { filterJson, namedRangeJson, overlayJson, protectedRangeJson } from './spreadsheet-resource.ts';

type OverlayList = 'protectedRanges' | 'bandedRanges' | 'filterViews';

/** Takes the range out of the sent object: an overlay keeps it apart, so that it moves with the cells. */
function overlayFrom(id: number, sent: JsonObject): Overlay {
  const { range, ...rest } = sent;
  const parsed = gridRange.safeParse(range ?? {});
  if (!parsed.success) throw invalidArgument('Invalid range.');
  return { ...rest, id, ranges: [parsed.data] };
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

/** The four requests to add, change and delete something with a numeric id of its own. */
function overlayRequests(
  list: OverlayList,
  noun: string,
  member: string,
  idName: string,
  show: (o: Overlay) => JsonObject,
) {
  const sentShape = z.object({ [member]: jsonObject });
  const add = requestKind(sentShape, (draft, request, nextId) => {
    const { [idName]: chosenId, ...sent } = request[member] ?? {};
    const overlay = overlayFrom(typeof chosenId === 'number' ? chosenId : nextId(), withoutDefaults(sent));
    sheetOf(draft, overlay)[list].push(overlay);
    return { [member]: show(overlay) };
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
    const { sheet, overlay } = withOverlay(draft, list, Number(request[idName] ?? request['filterId']));
    sheet[list] = sheet[list].filter((candidate) => candidate !== overlay);
    return undefined;
  });
  return { [`add${noun}`]: add, [`update${noun}`]: update, [`delete${noun}`]: remove };
}

const ruleShape = z.object({ index: z.number().int().nonnegative().default(0), rule: jsonObject });

function ruleOverlay(rule: JsonObject, id: number): Overlay {
  const { ranges, ...rest } = rule;
  const parsed = z.array(gridRange).safeParse(ranges ?? []);
  if (!parsed.success || parsed.data.length === 0) throw invalidArgument('rule.ranges must not be empty.');
  return { ...rest, id, ranges: parsed.data };
}

const addConditionalFormatRule = requestKind(ruleShape, (draft, { index, rule }, nextId) => {
  const overlay = ruleOverlay(rule, nextId());
  sheetOf(draft, overlay).conditionalFormats.splice(index, 0, overlay);
  return undefined;
});

const ruleAt = z.object({
  index: z.number().int().nonnegative().default(0),
  sheetId: z.number().int().default(0),
  rule: jsonObject.optional(),
  newIndex: z.number().int().nonnegative().optional(),
});

function existingRule(
  draft: Spreadsheet,
  sheetId: number,
  index: number,
): { sheet: Sheet; existing: Overlay } {
  const sheet = sheetById(draft, sheetId);
  const existing = sheet.conditionalFormats[index];
  if (!existing) throw invalidArgument(`No conditional format on sheet: ${sheetId} at index: ${index}`);
  return { sheet, existing };
}

const updateConditionalFormatRule = requestKind(ruleAt, (draft, { index, sheetId, rule, newIndex }) => {
  const { sheet, existing } = existingRule(draft, sheetId, index);
  const changed = rule ? ruleOverlay(rule, existing.id) : existing;
  sheet.conditionalFormats.splice(index, 1);
  sheet.conditionalFormats.splice(newIndex ?? index, 0, changed);
  return {
    newRule: overlayJson(changed),
    newIndex: newIndex ?? index,
    oldRule: overlayJson(existing),
    oldIndex: index,
  };
});

const deleteConditionalFormatRule = requestKind(ruleAt, (draft, { index, sheetId }) => {
  const { sheet, existing } = existingRule(draft, sheetId, index);
  sheet.conditionalFormats.splice(index, 1);
  return { rule: overlayJson(existing) };
});

/** A basic filter hides nothing here, but its sort order is applied to the rows, as Google does. */
const setBasicFilter = requestKind(z.object({ filter: jsonObject }), (draft, { filter }, nextId) => {
  const sent = overlayFrom(nextId(), filter);
  const { sheet, area } = resolveGridRange(draft, sent.ranges[0] ?? {});
  const overlay = { ...sent, ranges: [rangeOf(sheet.sheetId, area)] };
  sheet.basicFilter = [overlay];
  const specs = z.array(jsonObject).safeParse(filter['sortSpecs'] ?? []);
  if (specs.success && specs.data.length > 0)
    sortArea(sheet, { ...area, startRow: area.startRow + 1 }, sortKeysOf(specs.data));
  return undefined;
});

const clearBasicFilter = requestKind(
  z.object({ sheetId: z.number().int().default(0) }),
  (draft, { sheetId }) => {
    sheetById(draft, sheetId).basicFilter = [];
    return undefined;
  },
);

const namedRangeShape = z.object({ namedRange: jsonObject });

function refuseName(draft: Spreadsheet, name: unknown): void {
  if (typeof name !== 'string' || !/^[A-Za-z_\u0080-\uffff][\w.\u0080-\uffff]*$/.test(name)) {
    throw invalidArgument(`The name of a named range is not valid: ${String(name)}`);
  }
  if (draft.namedRanges.some((other) => other['name'] === name)) {
    throw invalidArgument(`A named range with the name "${name}" already exists.`);
  }
}

const addNamedRange = requestKind(namedRangeShape, (draft, { namedRange }, nextId: NextId) => {
  const { namedRangeId, ...sent } = namedRange;
  refuseName(draft, sent['name']);
  const overlay = { ...overlayFrom(nextId(), sent), ...(namedRangeId !== undefined && { namedRangeId }) };
  sheetOf(draft, overlay);
  draft.namedRanges.push(overlay);
  return { namedRange: namedRangeJson(overlay) };
});

const updateNamedRange = requestKind(namedRangeShape.extend({ fields }), (draft, request) => {
  const mask = requiredMask(request.fields);
  const { namedRangeId, ...sent } = request.namedRange;
  const existing = draft.namedRanges.find(
    (overlay) => namedRangeJson(overlay)['namedRangeId'] === namedRangeId,
  );
  if (!existing) throw invalidArgument(`No named range with id: ${String(namedRangeId)}`);
  const { id, ranges, ...rest } = existing;
  const changed = overlayFrom(id, mergeFields({ ...rest, range: ranges[0] ?? {} }, sent, mask));
  draft.namedRanges = draft.namedRanges.map((overlay) => (overlay === existing ? changed : overlay));
  return undefined;
});

const deleteNamedRange = requestKind(z.object({ namedRangeId: z.string() }), (draft, { namedRangeId }) => {
  const kept = draft.namedRanges.filter(
    (overlay) => namedRangeJson(overlay)['namedRangeId'] !== namedRangeId,
  );
  if (kept.length === draft.namedRanges.length)
    throw invalidArgument(`No named range with id: ${namedRangeId}`);
  draft.namedRanges = kept;
  return undefined;
});

export const OVERLAY_REQUESTS: Record<string, RequestKind> = {
  ...overlayRequests(
    'protectedRanges',
    'ProtectedRange',
    'protectedRange',
    'protectedRangeId',
    protectedRangeReply,
  ),
  ...overlayRequests('bandedRanges', 'Banding', 'bandedRange', 'bandedRangeId', (o) =>
    overlayJson(o, 'bandedRangeId'),
  ),
  ...overlayRequests('filterViews', 'FilterView', 'filter', 'filterViewId', filterJson),
  addConditionalFormatRule,
  updateConditionalFormatRule,
  deleteConditionalFormatRule,
  setBasicFilter,
  clearBasicFilter,
  addNamedRange,
  updateNamedRange,
  deleteNamedRange,
};

/** The reply still shows the editors as they were sent; a later read shows who may edit. */
function protectedRangeReply(overlay: Overlay): JsonObject {
  const { editors, ...shown } = protectedRangeJson(overlay);
  return overlay['warningOnly'] === true
    ? shown
    : { ...shown, editors: withoutDefaults(sentEditors(overlay)) };
}

function sentEditors(overlay: Overlay): JsonObject {
  const editors = isJsonObject(overlay['editors']) ? overlay['editors'] : {};
  const filled = Object.entries(editors).filter(([, list]) => !Array.isArray(list) || list.length > 0);
  return Object.fromEntries(filled);
}
