import { z } from 'zod';
import { overlayJson } from '../overlay-json.ts';
import { type Overlay, type Sheet, type Spreadsheet, sheetById } from '../spreadsheet.ts';
import { invalidArgument } from '../wire/google-error.ts';
import type { JsonObject } from '../wire/json.ts';
import { type RequestKind, requestKind } from './request-kind.ts';
import { gridRange, jsonObject } from './request-shapes.ts';

const ruleShape = z.object({ index: z.number().int().nonnegative().default(0), rule: jsonObject });

function ruleOverlay(rule: JsonObject, id: number): Overlay {
  const { ranges, ...rest } = rule;
  const parsed = z.array(gridRange).safeParse(ranges ?? []);
  if (!parsed.success || parsed.data.length === 0) throw invalidArgument('rule.ranges must not be empty.');
  return { ...rest, id, ranges: parsed.data };
}

const addConditionalFormatRule = requestKind(ruleShape, (draft, { index, rule }, nextId) => {
  const overlay = ruleOverlay(rule, nextId());
  sheetById(draft, overlay.ranges[0]?.sheetId).conditionalFormats.splice(index, 0, overlay);
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

/** A rule that takes the place of another is looked for in the tab that its ranges are of; only a move names the tab. */
const updateConditionalFormatRule = requestKind(ruleAt, (draft, { index, sheetId, rule, newIndex }) => {
  const [range] = rule && newIndex === undefined ? ruleOverlay(rule, 0).ranges : [];
  const { sheet, existing } = existingRule(draft, range ? (range.sheetId ?? 0) : sheetId, index);
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

export const CONDITIONAL_FORMAT_REQUESTS: Record<string, RequestKind> = {
  addConditionalFormatRule,
  updateConditionalFormatRule,
  deleteConditionalFormatRule,
};
