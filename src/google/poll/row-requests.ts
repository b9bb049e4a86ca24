import type { RowSpan } from './mend.ts';

/** Rows by the numeric id of their tab. */
export type Spans = ReadonlyMap<number, readonly RowSpan[]>;

/** An address holds some thousand characters. */
const spansMax = 60;

/** Half of what Google allows in a minute. What takes more is read with everything else, in parts that are longer. */
export const requestsMax = 30;

/** The rows in their order, and which of them are asked for together: one request at least, for what is said of the tabs themselves. */
export function requestsFor(wanted: Spans, rowsAtOnce: number): Spans[] {
  const requests = [new Map<number, RowSpan[]>()];
  let [count, rows] = [0, 0];
  for (const [sheetId, own] of wanted) {
    for (const span of joinSpans(own).flatMap((joined) => cut(joined, rowsAtOnce))) {
      const height = span.end - span.from;
      if (count >= spansMax || (count > 0 && rows + height > rowsAtOnce)) {
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

function joinSpans(spans: readonly RowSpan[]): RowSpan[] {
  const joined: { from: number; end: number }[] = [];
  for (const { end, from } of spans.toSorted((one, other) => one.from - other.from)) {
    const last = joined.at(-1);
    if (last && from <= last.end) last.end = Math.max(last.end, end);
    else joined.push({ from, end });
  }
  return joined;
}

const cut = ({ end, from }: RowSpan, rowsAtOnce: number): RowSpan[] =>
  Array.from({ length: Math.ceil((end - from) / rowsAtOnce) }, (_, place) => ({
    from: from + place * rowsAtOnce,
    end: Math.min(end, from + (place + 1) * rowsAtOnce),
  }));
