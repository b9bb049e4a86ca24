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

/** Runs checks, prints one line for each as soon as it ends, and counts. */
export interface CheckRun {
  readonly passed: number;
  readonly failed: number;
  /** Runs all of them at the same time. Never fails itself. */
  together(checks: readonly Check[]): Promise<void>;
}

const nameWidth = 90;

export function startCheckRun(sides: Sides): CheckRun {
  const counts = { passed: 0, failed: 0 };
  async function runOne({ name, run }: Check): Promise<void> {
    const startedAt = Date.now();
    const line = (mark: string) =>
      `${mark} ${name.padEnd(nameWidth)} ${((Date.now() - startedAt) / 1000).toFixed(1).padStart(5)} s`;
    try {
      await run(sides);
      counts.passed += 1;
      console.log(line('✓'));
    } catch (error) {
      counts.failed += 1;
      console.log(`${line('✗')}\n    ${error instanceof Error ? error.message : error}`);
    }
  }
  return {
    get passed() {
      return counts.passed;
    },
    get failed() {
      return counts.failed;
    },
    together: async (checks) => void (await Promise.all(checks.map(runOne))),
  };
}
