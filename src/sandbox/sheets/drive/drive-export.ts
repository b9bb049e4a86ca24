import { formattedValue } from '../display/display.ts';
import type { Spreadsheet } from '../spreadsheet.ts';
import { driveBadRequest } from '../wire/google-error.ts';
import type { DriveAnswer } from './drive-call.ts';

const DELIMITERS: Record<string, string> = { 'text/csv': ',', 'text/tab-separated-values': '\t' };

/** The first tab as delimited text; of the other formats Google has, none is made here. */
export function exportedText(spreadsheet: Spreadsheet, mimeType: string | null): DriveAnswer {
  if (mimeType === null) throw driveBadRequest('Required parameter: mimeType', 'mimeType');
  const delimiter = DELIMITERS[mimeType];
  if (delimiter === undefined) {
    throw driveBadRequest('The requested conversion is not supported.', 'convertTo');
  }
  const rows = (spreadsheet.sheets[0]?.rows ?? []).map((row) => row.map((cell) => formattedValue(cell)));
  const height = rows.findLastIndex((row) => row.some((text) => text !== '')) + 1;
  const width = Math.max(0, ...rows.map((row) => row.findLastIndex((text) => text !== '') + 1));
  const lines = rows
    .slice(0, height)
    .map((row) =>
      Array.from({ length: width }, (_, column) => quoted(row[column] ?? '', delimiter)).join(delimiter),
    );
  return { text: lines.join('\r\n'), contentType: mimeType };
}

function quoted(text: string, delimiter: string): string {
  if (delimiter === '\t') return text.replace(/[\t\r\n]+/g, ' ');
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
