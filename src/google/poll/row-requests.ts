import type { RowSpan } from './mend.ts';

/** Rows by the numeric id of their tab. */
export type Spans = ReadonlyMap<number, readonly RowSpan[]>;

/** An address holds some thousand characters. */
const spansMax = 60;
/** An answer is parsed in one go. */
const rowsMax = 2_000;

/** More requests than that are half of what Google allows in a minute: then all is read again, in parts that are longer. */
export const requestsMax = 30;

/** What is asked for together. There is one request at least, for what is said beside the rows. */
export function requestsFor(spans: Spans): Spans[] {
  const requests = [new Map<number, RowSpan[]>()];
  let [count, rows] = [0, 0];
  for (const [sheetId, own] of spans) {
    for (const span of own.flatMap(cut)) {
      const height = span.end - span.from;
      if (count >= spansMax || (count > 0 && rows + height > rowsMax)) {
        requests.push(new Map());
        [count, rows] = [0, 0];
      }
      const last = requests.at(-1);
      last?.set(sheetId, [...(last.get(sheetId) ?? []), span]);
      count += 1;
      rows += height;
    }
  }
  return requests;
}

const cut = ({ end, from }: RowSpan): RowSpan[] =>
  Array.from({ length: Math.ceil((end - from) / rowsMax) }, (_, place) => ({
    from: from + place * rowsMax,
    end: Math.min(end, from + (place + 1) * rowsMax),
  }));
