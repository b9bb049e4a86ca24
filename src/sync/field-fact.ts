import type { Mirror } from '../core/mirror.ts';
import type { FieldName } from '../core/value.ts';

/** The fields that the mirror keeps as a fact; none where it was never saved. */
export const readFieldFact = (mirror: Mirror, name: string): ReadonlySet<FieldName> =>
  new Set(mirror.readFact(name)?.split('\n'));

export const saveFieldFact = (mirror: Mirror, name: string, fields: ReadonlySet<FieldName>): void =>
  mirror.saveFact(name, [...fields].join('\n'));
