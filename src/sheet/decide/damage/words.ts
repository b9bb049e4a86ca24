import { quoteText } from '../../../core/text/cut-text.ts';
import { describeCell } from '../../port/cell.ts';
import type { Damage, DamagedCell } from '../../port/damage.ts';
import type { TabLayout } from '../../port/layout.ts';

export const pendingReason =
  'Rows moved while this one was written. What was written here by mistake is being taken back.';

/** What a user is asked: the columns by their headers, with what was written and what was there. */
export function damageQuestion(
  { columns }: Pick<TabLayout, 'columns'>,
  { cells, kind, own }: Damage,
): string {
  const headers = new Map(columns.map(({ field, header }) => [field, header]));
  const all = [
    ...Object.entries(cells).map(([name, cell]) => [headers.get(name) ?? name, cell] as const),
    ...Object.entries(own),
  ];
  const said = all.map(([header, cell]) => `${header}: ${describeDamaged(kind, cell)}`).join('; ');
  return `Rows or columns moved while the sheet was written, and that could not be taken back by itself. ${beginnings[kind]} ${said}. Restore puts back what was there, Keep leaves all as it is.`;
}

const beginnings = {
  overwritten: 'Written here by mistake:',
  deleted: 'This row was deleted by mistake, with',
  added: 'This row was added under wrong columns, with',
} as const;

/** The user is to be able to put it back by hand. */
const quotedMax = 500;

function describeDamaged(kind: Damage['kind'], { before, written }: DamagedCell): string {
  const [old, now] = [before, written].map((cell) =>
    cell.kind === 'empty' ? 'nothing' : quoteText(describeCell(cell), quotedMax),
  );
  if (kind === 'overwritten') return `${now} over ${old}`;
  return `${kind === 'deleted' ? old : now}`;
}
