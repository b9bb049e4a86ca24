import { z } from 'zod';
import { type NextId, type Sheet, type Spreadsheet, sheetById } from '../spreadsheet.ts';
import { mergeFields } from '../wire/field-mask.ts';
import { invalidArgument } from '../wire/google-error.ts';
import { isJsonObject, type Json, type JsonObject } from '../wire/json.ts';
import { type RequestKind, requestKind, requiredMask } from './request-kind.ts';
import { fields, jsonObject } from './request-shapes.ts';

type ObjectList = 'charts' | 'slicers';

const ID_NAMES = { charts: 'chartId', slicers: 'slicerId' } as const;

/** Objects over the grid are kept as they were sent and given back; none is drawn. */
function add(draft: Spreadsheet, list: ObjectList, sent: JsonObject, nextId: NextId): JsonObject {
  const idName = ID_NAMES[list];
  const id = sent[idName] ?? nextId();
  if (draft.sheets.some((sheet) => sheet[list].some((other) => other[idName] === id))) {
    throw invalidArgument(`An embedded object with id ${String(id)} already exists.`);
  }
  const object = { ...sent, [idName]: id };
  sheetUnder(draft, sent['position'])[list].push(object);
  return object;
}

function sheetUnder(draft: Spreadsheet, position: Json | undefined): Sheet {
  const overlay = isJsonObject(position) ? position['overlayPosition'] : undefined;
  const anchor = isJsonObject(overlay) ? overlay['anchorCell'] : undefined;
  if (!isJsonObject(anchor)) throw invalidArgument('position.overlayPosition.anchorCell is required.');
  return sheetById(draft, typeof anchor['sheetId'] === 'number' ? anchor['sheetId'] : 0);
}

const addChart = requestKind(z.object({ chart: jsonObject }), (draft, { chart }, nextId) => ({
  chart: add(draft, 'charts', chart, nextId),
}));

const addSlicer = requestKind(z.object({ slicer: jsonObject }), (draft, { slicer }, nextId) => ({
  slicer: add(draft, 'slicers', slicer, nextId),
}));

/** Where an object is; `lists` says what kinds the id may mean. */
function find(draft: Spreadsheet, id: number, lists: readonly ObjectList[] = ['charts', 'slicers']) {
  for (const sheet of draft.sheets) {
    for (const list of lists) {
      const object = sheet[list].find((candidate) => candidate[ID_NAMES[list]] === id);
      if (object) return { sheet, list, object };
    }
  }
  throw invalidArgument(`No embedded object with id: ${id}`);
}

function replace(draft: Spreadsheet, id: number, changes: JsonObject, lists?: readonly ObjectList[]): void {
  const { sheet, list, object } = find(draft, id, lists);
  sheet[list] = sheet[list].map((other) => (other === object ? { ...object, ...changes } : other));
}

const updateChartSpec = requestKind(
  z.object({ chartId: z.number().int(), spec: jsonObject }),
  (draft, { chartId, spec }) => {
    replace(draft, chartId, { spec }, ['charts']);
    return undefined;
  },
);

const updateSlicerSpec = requestKind(
  z.object({ slicerId: z.number().int(), spec: jsonObject.default({}), fields }),
  (draft, { slicerId, spec, fields: maskText }) => {
    const { object } = find(draft, slicerId, ['slicers']);
    const current = isJsonObject(object['spec']) ? object['spec'] : {};
    replace(draft, slicerId, { spec: mergeFields(current, spec, requiredMask(maskText)) }, ['slicers']);
    return undefined;
  },
);

const updateEmbeddedObjectPosition = requestKind(
  z.object({ objectId: z.number().int(), newPosition: jsonObject, fields }),
  (draft, { objectId, newPosition, fields: maskText }) => {
    const { sheet, list, object } = find(draft, objectId);
    const current = isJsonObject(object['position']) ? object['position']['overlayPosition'] : undefined;
    const sent = newPosition['overlayPosition'];
    if (!isJsonObject(sent)) throw invalidArgument('newPosition.overlayPosition is required.');
    const overlayPosition = mergeFields(isJsonObject(current) ? current : {}, sent, requiredMask(maskText));
    const position = { overlayPosition };
    const target = sheetUnder(draft, position);
    sheet[list] = sheet[list].filter((other) => other !== object);
    target[list].push({ ...object, position });
    return { position };
  },
);

const updateEmbeddedObjectBorder = requestKind(
  z.object({ objectId: z.number().int(), border: jsonObject.default({}), fields }),
  (draft, { objectId, border, fields: maskText }) => {
    const { object } = find(draft, objectId);
    const current = isJsonObject(object['border']) ? object['border'] : {};
    replace(draft, objectId, { border: mergeFields(current, border, requiredMask(maskText)) });
    return undefined;
  },
);

const deleteEmbeddedObject = requestKind(z.object({ objectId: z.number().int() }), (draft, { objectId }) => {
  const { sheet, list, object } = find(draft, objectId);
  sheet[list] = sheet[list].filter((other) => other !== object);
  return undefined;
});

export const EMBEDDED_OBJECT_REQUESTS: Record<string, RequestKind> = {
  addChart,
  updateChartSpec,
  addSlicer,
  updateSlicerSpec,
  updateEmbeddedObjectPosition,
  updateEmbeddedObjectBorder,
  deleteEmbeddedObject,
};
