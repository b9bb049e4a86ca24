import { isJsonObject, type Json, type JsonObject } from '../wire/json.ts';

const membersOf = (value: Json | undefined, name: string): readonly Json[] => {
  const list = isJsonObject(value) ? value[name] : undefined;
  return Array.isArray(list) ? list : [];
};

/** How many cells an answer brings as grid data. */
export const countCells = (answer: JsonObject): number =>
  membersOf(answer, 'sheets')
    .flatMap((sheet) => membersOf(sheet, 'data'))
    .flatMap((block) => membersOf(block, 'rowData'))
    .reduce<number>((sum, row) => sum + membersOf(row, 'values').length, 0);
