import type { Mirror } from '../core/mirror.ts';
import { type Entity, entities } from '../core/record.ts';
import type { FieldName } from '../core/value.ts';
import { type ColumnMap, type ColumnPlace, sheetFacts } from './facts.ts';
import type { Policy, TabPolicy } from './policy.ts';

/** The tabs whose columns the configuration puts elsewhere than the mirror remembers. */
export function readRemaps(mirror: Mirror, { tabs }: Policy): ReadonlyMap<Entity, Remap> {
  return new Map(
    entities.flatMap((entity) => {
      const remap = compareColumnMaps(mirror.readFact(sheetFacts.columns(entity)), columnMapOf(tabs[entity]));
      return remap ? [[entity, remap] as const] : [];
    }),
  );
}

/** Remembers where the configuration puts the columns of a tab. */
export const saveColumnMap = (mirror: Mirror, { tabs }: Policy, entity: Entity): void =>
  mirror.saveFact(sheetFacts.columns(entity), columnMapOf(tabs[entity]));

/** What two column maps of a tab put elsewhere. */
export interface Remap {
  /** Fields with a column whose values may be others now, with what is different in words. */
  readonly moved: Readonly<Record<FieldName, string>>;
  /** Fields that have no column any more: what was agreed of them grows old unseen. */
  readonly off: readonly FieldName[];
}

const usual: ColumnPlace = { direction: 'both' };

export const columnMapOf = ({ columns }: TabPolicy): ColumnMap =>
  Object.fromEntries(
    Object.entries(columns).map(([field, { direction = 'both', header }]) => [
      field,
      header === undefined ? { direction } : { header, direction },
    ]),
  );

/**
 * What is different; `undefined` for nothing. Without a map from before nothing is known to have moved. A column that is new is no move:
 * nothing was ever agreed in it.
 */
export function compareColumnMaps(before: ColumnMap | undefined, now: ColumnMap): Remap | undefined {
  const fields = [...new Set([...Object.keys(before ?? {}), ...Object.keys(now)])];
  const places = fields.map((field) => ({
    field,
    old: before?.[field] ?? usual,
    next: now[field] ?? usual,
  }));
  const off = places.filter(
    ({ old, next }) => next.direction === 'off' && (!before || old.direction !== 'off'),
  );
  const moved = places.flatMap(({ field, old, next }) => {
    if (!before || old.direction === 'off' || next.direction === 'off') return [];
    const words = describeMove(field, old, next);
    return words === undefined ? [] : [[field, words] as const];
  });
  const isAlike = before !== undefined && places.every(({ old, next }) => arePlacesAlike(old, next));
  return isAlike ? undefined : { moved: Object.fromEntries(moved), off: off.map(({ field }) => field) };
}

const arePlacesAlike = (one: ColumnPlace, other: ColumnPlace) =>
  one.header === other.header && one.direction === other.direction;

function describeMove(field: FieldName, old: ColumnPlace, next: ColumnPlace): string | undefined {
  if (old.header !== next.header)
    return `${field} stood under ${nameHeader(old)} and is to stand under ${nameHeader(next)}`;
  if (old.direction === next.direction) return undefined;
  return next.direction === 'both'
    ? `${field} only came from the CRM and is to go both ways`
    : `${field} went both ways and is only to come from the CRM`;
}

const nameHeader = ({ header }: ColumnPlace) => (header === undefined ? 'its own header' : `“${header}”`);
