import type { Mirror } from '../core/mirror.ts';
import type { Entity } from '../core/record.ts';
import type { Link } from '../sync/link.ts';
import type { EditLimits } from './edits/edit-brakes.ts';
import type { EditPolicy } from './edits/policy.ts';
import type { Editing } from './port/layout.ts';
import type { Warehouse } from './port/port.ts';

/** What the warehouse of a link is, and how it is kept. */
export interface WarehouseTerms {
  readonly database: Warehouse;
  readonly schema: string;
  readonly entities: readonly Entity[];
  readonly hasHistory: boolean;
  /** How often freshness is written at most, in ms; 0 for never. */
  readonly freshnessMs: number;
  /** When all rows are compared each day, as minutes since midnight of the machine's zone; absent for never. */
  readonly auditMinute?: number | undefined;
  /** Names of stages in which an opportunity is lost, whatever the CRM says of them. */
  readonly lostStages: readonly string[];
  readonly limits: DeleteLimits;
  /** How edits by SQL are taken; absent where they are refused. */
  readonly editing?: EditTerms | undefined;
}

/** How edits by SQL are taken, and what they come to. */
export interface EditTerms extends EditPolicy, Editing {
  /** Whether the database tells of edits; else they are looked for each `pollMs`. */
  readonly isNotified: boolean;
  readonly pollMs: number;
  /** For how many days the database keeps edits that are over. */
  readonly keepDays: number;
  readonly limits: EditLimits;
}

/** Rows that may always be deleted within an hour, and the share of a table that may. */
export interface DeleteLimits {
  readonly deletesMin: number;
  readonly deletesShare: number;
}

/** A link with the warehouse that is kept the same. Its mirror opens to the stores of this side. */
export interface WarehouseLink extends Link, WarehouseTerms {
  readonly mirror: Mirror;
}
