import type { Mirror } from '../core/mirror.ts';
import { type Entity, entities } from '../core/record.ts';
import type { Agreement } from '../core/state.ts';
import type { FieldName } from '../core/value.ts';
import { sheetFacts } from './facts.ts';
import { currentLayout, type LayoutLink } from './layout.ts';
import type { SheetLink } from './link.ts';
import { type Column, type Layout, recordTabs, type TabLayout } from './port/layout.ts';
import type { ObservedTab, ObservedTable } from './port/table.ts';

/**
 * The current layout as the table is given it, in which the fields that never had a column are marked as new. A field whose header the
 * configuration names is not, because whoever named it knows the column. Nor is any field of a tab of which the mirror knows nothing at all,
 * as after it was lost: there everything is met for the first time, and a person is asked.
 */
export function tableLayout(link: LayoutLink): Layout {
  const layout = currentLayout(link);
  const newFields = findNewFields(layout, link);
  return layout.map((tab) => {
    if (tab.entity === 'question') return tab;
    const fields = newFields.get(tab.entity);
    if (!fields || fields.size === 0) return tab;
    const mark = (column: Column): Column => (fields.has(column.field) ? { ...column, isNew: true } : column);
    return { ...tab, columns: tab.columns.map(mark) };
  });
}

function findNewFields(layout: Layout, { mirror, policy }: Pick<SheetLink, 'mirror' | 'policy'>) {
  const agreements = mirror.readAgreements();
  return new Map(
    recordTabs(layout).map(({ columns, entity }) => {
      const own = agreements.filter(({ key }) => key.entity === entity);
      const met = meetFields(mirror, { columns, entity }, own);
      const isNamed = (field: FieldName) => policy.tabs[entity].columns[field]?.header !== undefined;
      const isNew = ({ field }: Column) => !met.has(field) && !isNamed(field);
      const isKnownTab = own.some(({ fields, offered }) => Object.keys({ ...fields, ...offered }).length > 0);
      return [entity, new Set(isKnownTab ? columns.filter(isNew).map(({ field }) => field) : [])];
    }),
  );
}

/** Whether any tab was found with a column of a field. */
export const hasMetColumns = (mirror: Mirror): boolean =>
  entities.some((entity) => mirror.readFact(sheetFacts.metFields(entity)) !== undefined);

/**
 * Remembers which fields were found to have a column: what somebody types there from then on is meant for the field, although nothing may
 * be agreed of it for long, as while a plan waits to be applied.
 */
export function noteColumns(mirror: Mirror, { tabs }: ObservedTable): void {
  for (const entity of entities) {
    const tab = tabs[entity];
    if (tab.state === 'held') continue;
    const before = new Set(mirror.readFact(sheetFacts.metFields(entity)));
    const met = before.union(tab.fields);
    if (met.size > before.size) mirror.saveFact(sheetFacts.metFields(entity), [...met]);
  }
}

/**
 * Fields that had a column or of which something was agreed, perhaps long ago: where a column is gone, nothing is agreed of its field any
 * more.
 */
function meetFields(
  mirror: Mirror,
  { columns, entity }: Pick<TabLayout<Entity>, 'columns' | 'entity'>,
  agreements: readonly Agreement[],
): ReadonlySet<FieldName> {
  const before = new Set(mirror.readFact(sheetFacts.metFields(entity)));
  if (columns.every(({ field }) => before.has(field))) return before;
  const met = new Set(before);
  for (const { fields, offered } of agreements) {
    for (const field in fields) met.add(field);
    for (const field in offered) met.add(field);
  }
  if (met.size > before.size) mirror.saveFact(sheetFacts.metFields(entity), [...met]);
  return met;
}

/** Reads with the fields added that were boxed before: as long as a read is the same object, so is what it was completed to. */
const completed = new WeakMap<ObservedTable, ObservedTable>();

/**
 * The table as it was read, where columns count as boxed also if they were so before; and remembers those that are boxed now. A person who
 * turns Google's own table back into plain rows keeps all of its boxes, and says no more with them than before.
 */
export function keepBoxes(mirror: Mirror, table: ObservedTable): ObservedTable {
  const tabs: Partial<Record<Entity, ObservedTab>> = {};
  for (const entity of entities) {
    const tab = table.tabs[entity];
    if (tab.state === 'held') continue;
    const now = tab.boxed ?? new Set<FieldName>();
    const before = new Set(mirror.readFact(sheetFacts.boxedFields(entity)));
    const boxed = before.union(now);
    if (boxed.size > before.size) mirror.saveFact(sheetFacts.boxedFields(entity), [...boxed]);
    if (boxed.size > now.size) tabs[entity] = { ...tab, boxed };
  }
  if (Object.keys(tabs).length === 0) return table;
  const known = completed.get(table) ?? { ...table, tabs: { ...table.tabs, ...tabs } };
  completed.set(table, known);
  return known;
}
