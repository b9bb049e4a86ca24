import type { CrmPerson } from './crm-person.ts';
import type { DaemonView } from './daemon-view.ts';
import type { SheetPerson } from './sheet-person.ts';

/** Who takes part: somebody at the sheet, somebody in the CRM, and the operator. */
export interface Sides {
  readonly sheet: SheetPerson;
  readonly crm: CrmPerson;
  readonly daemon: DaemonView;
  /** The sandbox CRM's address without a path. */
  readonly crmOrigin: string;
}

/** One thing to see work. `run` fails with what was expected and what was found. */
export interface Check {
  readonly name: string;
  run(sides: Sides): Promise<void>;
}
