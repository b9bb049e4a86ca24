import type { FieldKind } from '../../core/fields/field-kind.ts';
import type { FieldRules } from '../../core/merge.ts';
import { type Entity, entities } from '../../core/record.ts';
import type { FieldName } from '../../core/value.ts';

/** A managed column: the field it carries and the rules for it. */
export interface Column extends FieldRules {
  readonly field: FieldName;
  readonly kind: FieldKind;
  readonly header: string;
  /** What the field is called, where its header is another. */
  readonly fieldHeader?: string;
  /** The field never had a column: one that is called so and is filled already may be people's own. */
  readonly isNew?: true;
  /** Why nothing goes either way for now; absent as a rule. Such a column is never added. */
  readonly held?: string;
  /** The numbers that the CRM takes; absent for any. */
  readonly min?: number;
  readonly max?: number;
  /** The form of the address that it shows of each record, in place of a value of the CRM. */
  readonly template?: string;
  /** Labels of the dropdown, where the column has one. */
  readonly labels?: readonly string[];
  /** Colours of the CRM for labels, as `#rrggbb`. */
  readonly colours?: Readonly<Record<string, string>>;
  /** What people are told about the column: what it is, what is accepted, where edits go. */
  readonly note?: string;
}

/** What the rows of a tab carry: records of one entity, or the questions that wait for a person. */
export const tabKinds = [...entities, 'question'] as const;
export type TabKind = (typeof tabKinds)[number];

/** A tab: an ID column, managed columns and a Sync column. */
export interface TabLayout<Kind extends TabKind = TabKind> {
  readonly entity: Kind;
  readonly title: string;
  readonly columns: readonly Column[];
  /** The field that names a row, which stays in view with all that comes before it; the first where absent. */
  readonly naming?: FieldName;
  /** The field behind which the Sync column stands; the naming one where absent. */
  readonly syncAfter?: FieldName;
  /** Header of a column of checkboxes; a row that is ticked there is left alone. Absent where there is none. */
  readonly pauseHeader?: string;
}

export type Layout = readonly TabLayout[];

/** The tab whose rows carry this; `undefined` where the layout has none. */
export const tabOf = (layout: Layout, kind: TabKind): TabLayout | undefined =>
  layout.find(({ entity }) => entity === kind);

/** The column of a field; `undefined` where the tab has none. */
export const columnOf = ({ columns }: Pick<TabLayout, 'columns'>, name: FieldName): Column | undefined =>
  columns.find(({ field }) => field === name);

const carriesRecords = (tab: TabLayout): tab is TabLayout<Entity> => tab.entity !== 'question';

/** The tabs whose rows carry records. */
export const recordTabs = (layout: Layout): readonly TabLayout<Entity>[] => layout.filter(carriesRecords);
