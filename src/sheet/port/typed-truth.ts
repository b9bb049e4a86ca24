import { labelKey } from '../../core/text/label-key.ts';
import { type Cell, describeCell } from './cell.ts';

const yes = 'true yes y 1 x ✓ ✔ ☑ on ja oui si sí sì sim wahr vrai verdadero verdadeiro vero'.split(' ');
const no = 'false no n 0 off ☐ nein non nej nei nee não nao falsch faux falso'.split(' ');

/** Words for yes and no that mean the same wherever they are used. */
const truths: ReadonlyMap<string, boolean> = new Map([
  ...yes.map((word) => [word, true] as const),
  ...no.map((word) => [word, false] as const),
]);

/** What a cell says as yes or no; `undefined` where it says neither. */
export const readTypedTruth = (cell: Cell): boolean | undefined =>
  truths.get(labelKey(cell.kind === 'number' ? String(cell.number) : describeCell(cell)));
