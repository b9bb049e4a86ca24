import type { Entity } from '../record.ts';
import type { Brake } from './plan.ts';

/** Limits over which a step is too large to be meant. */
export interface BrakeLimits {
  /** Deletes that are always allowed, whatever the size of the tab. */
  readonly deletesMin: number;
  /** Share of a tab's records that may go at once, 0 to 1. */
  readonly deletesShare: number;
  /** Rows that may always change at once. */
  readonly changesMin: number;
  /** Share of a tab's rows that may change at once, 0 to 1. */
  readonly changesShare: number;
}

/** How many records of a tab there were, and how many of them are missing on a side. */
export interface Losses {
  readonly entity: Entity;
  readonly agreed: number;
  readonly vanishedRows: number;
  readonly goneRecords: number;
}

/** The brakes that a tab's losses trip. While one holds, nothing is written for that tab on either side. */
export function findBrakes(losses: Losses, limits: BrakeLimits): Brake[] {
  const { entity, agreed, vanishedRows, goneRecords } = losses;
  const allowed = Math.max(limits.deletesMin, Math.floor(agreed * limits.deletesShare));
  const brakes: Brake[] = [];
  // Who approves trash for all of them has to know.
  const forGood =
    entity === 'contact' ? ' The CRM has no trash for contacts: they are deleted for good.' : '';
  if (vanishedRows > 0 && vanishedRows === agreed && agreed > 1) {
    brakes.push({
      scope: `brake:${entity}:emptied`,
      entity,
      reason: `All ${agreed} rows are gone from the sheet.${forGood}`,
    });
  } else if (vanishedRows > allowed) {
    const reason = `${vanishedRows} of ${agreed} rows are gone from the sheet; ${allowed} may go at once.${forGood}`;
    brakes.push({ scope: `brake:${entity}:vanished`, entity, reason });
  }
  if (goneRecords > allowed) {
    const reason = `${goneRecords} of ${agreed} records are gone from the CRM; ${allowed} may go at once.`;
    brakes.push({ scope: `brake:${entity}:gone`, entity, reason });
  }
  return brakes;
}
