import { z } from 'zod';
import { namedRangeJson } from '../overlay-json.ts';
import { type Overlay, type Spreadsheet, sheetById } from '../spreadsheet.ts';
import { mergeFields } from '../wire/field-mask.ts';
import { invalidArgument } from '../wire/google-error.ts';
import { type RequestKind, requestKind, requiredMask } from './request-kind.ts';
import { fields, jsonObject } from './request-shapes.ts';
import { overlayFrom } from './requests-overlays.ts';

const namedRangeShape = z.object({ namedRange: jsonObject });

function refuseName(draft: Spreadsheet, name: unknown): void {
  if (typeof name !== 'string' || !/^[A-Za-z_\u0080-\uffff][\w.\u0080-\uffff]*$/.test(name)) {
    throw invalidArgument('The name given to this range is invalid');
  }
  if (draft.namedRanges.some((other) => other['name'] === name)) {
    throw invalidArgument(
      `Cannot add named range with name ${name}, a named range with that name already exists.`,
    );
  }
}

const addNamedRange = requestKind(namedRangeShape, (draft, { namedRange }, nextId) => {
  const { namedRangeId, ...sent } = namedRange;
  refuseName(draft, sent['name']);
  const overlay = { ...overlayFrom(nextId(), sent), ...(namedRangeId !== undefined && { namedRangeId }) };
  sheetById(draft, overlay.ranges[0]?.sheetId);
  draft.namedRanges.push(overlay);
  return { namedRange: namedRangeJson(overlay) };
});

function existingName(draft: Spreadsheet, namedRangeId: unknown): Overlay {
  const isMeant = (overlay: Overlay) => namedRangeJson(overlay)['namedRangeId'] === namedRangeId;
  const existing = draft.namedRanges.find(isMeant);
  if (!existing) throw invalidArgument(`No named range with id: ${String(namedRangeId)}`);
  return existing;
}

const updateNamedRange = requestKind(namedRangeShape.extend({ fields }), (draft, request) => {
  const mask = requiredMask(request.fields);
  const { namedRangeId, ...sent } = request.namedRange;
  const existing = existingName(draft, namedRangeId);
  const { id, ranges, ...rest } = existing;
  const changed = overlayFrom(id, mergeFields({ ...rest, range: ranges[0] ?? {} }, sent, mask));
  draft.namedRanges = draft.namedRanges.map((overlay) => (overlay === existing ? changed : overlay));
  return undefined;
});

const deleteNamedRange = requestKind(z.object({ namedRangeId: z.string() }), (draft, { namedRangeId }) => {
  const existing = existingName(draft, namedRangeId);
  draft.namedRanges = draft.namedRanges.filter((overlay) => overlay !== existing);
  return undefined;
});

export const NAMED_RANGE_REQUESTS: Record<string, RequestKind> = {
  addNamedRange,
  updateNamedRange,
  deleteNamedRange,
};
