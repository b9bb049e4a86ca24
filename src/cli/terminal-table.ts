/** Narrower than this no column can be read. */
const lastWidthMin = 24;

const gap = '  ';

/** Rows as a table that fits the width: the last column takes what the others leave, and is wrapped. */
export function renderTable(rows: readonly (readonly string[])[], width: number): string[] {
  const columns = Math.max(0, ...rows.map(({ length }) => length)) - 1;
  const widths = Array.from({ length: columns }, (_, column) =>
    Math.max(...rows.map((row) => row[column]?.length ?? 0)),
  );
  const before = widths.reduce((sum, each) => sum + each + gap.length, 0);
  const lastWidth = Math.max(lastWidthMin, width - before);
  return rows.flatMap((row) =>
    wrapWords(row[columns] ?? '', lastWidth).map((line, index) =>
      [...widths.map((each, column) => (index === 0 ? (row[column] ?? '') : '').padEnd(each)), line]
        .join(gap)
        .trimEnd(),
    ),
  );
}

/** Lines that break between words; a word that is wider than a line has one of its own. */
export function wrapWords(text: string, width: number): string[] {
  const lines = [''];
  for (const word of text.split(/\s+/)) {
    const line = lines.at(-1) ?? '';
    const longer = line === '' ? word : `${line} ${word}`;
    if (line === '' || longer.length <= width) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines;
}
