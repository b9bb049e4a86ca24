/**
 * Reads delimited text, quoted as spreadsheets quote it: `"a ""b"" c"` may hold delimiters and line breaks. A line break at
 * the end begins no row.
 */
export function delimitedRows(text: string, delimiter: string): string[][] {
  const rows: string[][] = [[]];
  let field = '';
  let isQuoted = false;
  const endField = () => {
    rows.at(-1)?.push(field);
    field = '';
  };
  for (let position = 0; position < text.length; position += 1) {
    const rest = text.slice(position, position + Math.max(2, delimiter.length));
    if (isQuoted && rest.startsWith('""')) {
      field += '"';
      position += 1;
    } else if (isQuoted && rest.startsWith('"')) isQuoted = false;
    else if (isQuoted) field += text[position];
    else if (rest.startsWith('"') && field === '') isQuoted = true;
    else if (rest.startsWith(delimiter)) {
      endField();
      position += delimiter.length - 1;
    } else if (rest.startsWith('\n')) {
      endField();
      rows.push([]);
    } else if (!rest.startsWith('\r\n')) field += text[position];
  }
  endField();
  return /\n$/.test(text) ? rows.slice(0, -1) : rows;
}

/** The rows of the tables in an HTML fragment; without any, its text is one cell. */
export function htmlRows(html: string): string[][] {
  const rows = [...html.matchAll(/<tr\b[^>]*>(.*?)<\/tr>/gis)].map(([, row = '']) =>
    [...row.matchAll(/<t[dh]\b[^>]*>(.*?)<\/t[dh]>/gis)].map(([, cell = '']) => plainText(cell)),
  );
  return rows.length > 0 ? rows : [[plainText(html)]];
}

const ENTITIES: Record<string, string> = { lt: '<', gt: '>', quot: '"', apos: "'", nbsp: ' ', amp: '&' };

function plainText(html: string): string {
  const text = html.replace(/<br\s*\/?>/gi, '\n').replace(/<[^>]*>/g, '');
  return text.replace(/&(\w+);/g, (entity, name: string) => ENTITIES[name] ?? entity).trim();
}
