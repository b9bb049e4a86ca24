const QUOTED = /"((?:[^"]|"")*)"(?=[\t\r\n]|$)/y;
const PLAIN = /[^\t\r\n]*/y;
const END = /\t|\r\n|\n|\r|$/y;

/** Reads a table from the clipboard: tabs between fields, lines between rows, quotes around fields that hold either. */
export function parseTable(text) {
  const body = text.replace(/(\r\n|\n|\r)$/, '');
  const rows = [[]];
  let at = 0;
  const take = (shape) => {
    shape.lastIndex = at;
    const match = shape.exec(body);
    if (match) at = shape.lastIndex;
    return match;
  };
  for (;;) {
    const quoted = take(QUOTED);
    rows.at(-1).push(quoted ? quoted[1].replaceAll('""', '"') : take(PLAIN)[0]);
    const [end] = take(END);
    if (end === '') return rows;
    if (end !== '\t') rows.push([]);
  }
}

/** Writes a table in the same way. */
export function tableText(rows) {
  const field = (text) => (/^"|[\t\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  return rows.map((texts) => texts.map(field).join('\t')).join('\n');
}

/** A table repeated over a larger area when it fits there a whole number of times, as spreadsheets do. */
export function repeatedOver(rows, { height, width }) {
  const wide = Math.max(...rows.map((texts) => texts.length));
  const isSquare = rows.every((texts) => texts.length === wide);
  if (!isSquare || height % rows.length !== 0 || width % wide !== 0) return rows;
  return Array.from({ length: height }, (_, down) =>
    Array.from({ length: width }, (_cell, right) => rows[down % rows.length][right % wide]),
  );
}
