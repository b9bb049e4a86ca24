import type { Range, SheetsClient, Spreadsheet } from './client.ts';
import { readTagged, type TaggedSpreadsheet } from './tabs.ts';

/** Reads a spreadsheet in one request or in several; while all of their answers stay the same, so does the object that comes of them. */
export interface Parts {
  /** A part, or `undefined` when one of the ranges names no tab. */
  get(fields: string, ranges?: readonly Range[]): Promise<Spreadsheet | undefined>;
  /** The parts as one spreadsheet. What it says of itself, and the order of its tabs, are those of the first part. */
  join(parts: readonly Spreadsheet[]): TaggedSpreadsheet;
}

export function createParts(client: SheetsClient): Parts {
  let watches = new Map<string, ReturnType<typeof client.watch<Spreadsheet>>>();
  let used: typeof watches = new Map();
  let last: { readonly parts: readonly Spreadsheet[]; readonly made: TaggedSpreadsheet } | undefined;

  return {
    get(fields, ranges = []) {
      const key = JSON.stringify([fields, ranges]);
      const watch = watches.get(key) ?? used.get(key) ?? client.watch((spreadsheet) => spreadsheet);
      used.set(key, watch);
      return watch(fields, ranges);
    },
    join(parts) {
      // What was not asked for since the last time is not kept: each holds a whole answer.
      [watches, used] = [used, new Map()];
      const isSame =
        last?.parts.length === parts.length && last.parts.every((part, at) => part === parts[at]);
      if (!last || !isSame) last = { parts, made: readTagged(joinParts(parts)) };
      return last.made;
    },
  };
}

type Sheet = NonNullable<Spreadsheet['sheets']>[number];

function joinParts(parts: readonly Spreadsheet[]): Spreadsheet {
  const [first = {}, ...others] = parts;
  if (others.length === 0) return first;
  const sheets = new Map<number, Sheet>();
  for (const sheet of parts.flatMap((part) => part.sheets ?? [])) {
    const id = sheet.properties?.sheetId ?? 0;
    const known = sheets.get(id);
    sheets.set(id, known ? joinSheets(known, sheet) : sheet);
  }
  return { ...Object.assign({}, ...others.toReversed(), first), sheets: [...sheets.values()] };
}

/** Parts of a tab that follow each other. Its size is that of the first, so that a change since then is seen. */
const joinSheets = (one: Sheet, other: Sheet): Sheet => ({
  ...other,
  ...one,
  merges: [...(one.merges ?? []), ...(other.merges ?? [])],
  tables: [...(one.tables ?? []), ...(other.tables ?? [])],
  data: [...(one.data ?? []), ...(other.data ?? [])],
});
