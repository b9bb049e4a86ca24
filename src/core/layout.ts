import type { FieldKind } from './field-kind.ts';
import type { Entity } from './record.ts';
import type { FieldName } from './value.ts';

/** Which way a column goes: both ways, only from the CRM to the table, or not at all. */
export type Direction = 'both' | 'toTable' | 'off';

/** Who wins when both sides changed one field differently; `ask` waits for a person. */
export type ConflictPolicy = 'crm' | 'table' | 'ask';

/** What an emptied cell means: nothing, so that the CRM's value comes back; that the CRM's value goes too; or a mistake to be told. */
export type BlankRule = 'leave' | 'clear' | 'refuse';

/** A managed column: the field it carries and the rules for it. */
export interface Column {
  readonly field: FieldName;
  readonly kind: FieldKind;
  readonly header: string;
  readonly direction: Exclude<Direction, 'off'>;
  readonly conflict: ConflictPolicy;
  /** `clear` where absent. */
  readonly blank?: BlankRule;
  /** Labels of the dropdown, where the column has one. */
  readonly labels?: readonly string[];
}

/** How one entity stands in the table: a tab with an ID column, managed columns and a Sync column. */
export interface TabLayout {
  readonly entity: Entity;
  readonly title: string;
  readonly columns: readonly Column[];
}

export type Layout = readonly TabLayout[];
