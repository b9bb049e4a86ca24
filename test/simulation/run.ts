import { createHash } from 'node:crypto';
import { createRandom } from '../../src/sandbox/crm/random.ts';
import type { Suspect } from '../../src/sheet/port/damage.ts';
import type { AccidentCounts } from './accidents.ts';
import { createRecord, workInCrm } from './crm-people.ts';
import { endMishaps, isMishap, mishap } from './faults.ts';
import {
  checkAgreed,
  checkBrakes,
  checkBudget,
  checkEqual,
  checkNothingLost,
  checkOwnCells,
} from './invariants.ts';
import { backUp } from './mirrors.ts';
import { drawLength, drawOperations, type Operation } from './operation.ts';
import { People } from './people.ts';
import { Races } from './races.ts';
import { checkFixpoint, comeToRest, settle } from './rest.ts';
import { checkNotes } from './rule-notes.ts';
import { isOfRule, workOnRule } from './rule-people.ts';
import { allTabs, keepNotes, workInSheet } from './sheet-people.ts';
import { sheetIds } from './spreadsheet.ts';
import { checkTables } from './sql-invariants.ts';
import { isOfSql, workBySql } from './sql-people.ts';
import type { SqlPlant } from './sql-side.ts';
import { SqlWork } from './sql-work.ts';
import { type Plant, Stage, type StageOptions } from './stage.ts';
import { formulaHeader, noteHeader, ownerHeader, type TabView } from './tab-view.ts';
import { Violation } from './violation.ts';

export interface RunOptions {
  readonly seed: number;
  /** Drawn from the seed where they are absent. */
  readonly operations?: readonly Operation[];
  readonly plant?: Plant | undefined;
  readonly plantSql?: SqlPlant | undefined;
  /** Whether requests get lost, the process crashes, and more of the kind. */
  readonly hasMishaps?: boolean | undefined;
  /** Whether users also edit the tables of a database by SQL. */
  readonly hasSql?: boolean | undefined;
  /** Whether the tab of the leads has some of them alone. */
  readonly hasRule?: boolean | undefined;
  /** Tells every deed and every write in full. */
  readonly isTold?: boolean;
}

/** How a run went. */
export interface RunReport {
  readonly seed: number;
  readonly hasMishaps: boolean;
  readonly hasSql: boolean;
  readonly hasRule: boolean;
  readonly operations: readonly Operation[];
  readonly violation: Violation | undefined;
  /** What happened, in order. */
  readonly trace: readonly string[];
  /** How misdirected writes ended. */
  readonly accidents: AccidentCounts;
  /** Equal for equal runs: of the trace and of what both sides hold at the end. */
  readonly hash: string;
}

/** One run: people and the daemon at work at once, then the daemon alone, which has to bring both sides to rest. */
export async function run({
  seed,
  operations: given,
  plant,
  plantSql,
  hasMishaps = false,
  hasSql = false,
  hasRule = false,
  isTold = false,
}: RunOptions): Promise<RunReport> {
  const random = createRandom(seed);
  const operations = given ?? drawOperations(random, drawLength(random), { hasMishaps, hasSql, hasRule });
  const simulation = new Simulation({ seed, plant, plantSql, hasMishaps, hasSql, hasRule, isTold });
  let violation: Violation | undefined;
  try {
    await simulation.perform(operations);
  } catch (error) {
    violation =
      error instanceof Violation
        ? error
        : new Violation('S15', String(error instanceof Error ? error.stack : error));
  } finally {
    simulation.stage.close();
  }
  return {
    seed,
    hasMishaps,
    hasSql,
    hasRule,
    operations,
    violation,
    accidents: simulation.people.accidents.counts,
    trace: simulation.stage.trace,
    hash: simulation.hash(),
  };
}

class Simulation {
  readonly people = new People();
  readonly stage: Stage;
  readonly #seed: number;
  readonly #hasMishaps: boolean;

  constructor(options: Omit<StageOptions, 'sheetWatcher' | 'watcher' | 'onSuspect'>) {
    this.#seed = options.seed;
    this.#hasMishaps = options.hasMishaps;
    const { sheetWatcher, watcher } = new Races(this.people);
    const onSuspect = (suspect: Suspect) => {
      if (suspect.state === 'escalated') this.people.own.excuse(suspect);
      this.stage.bug ??= this.people.accidents.judge(suspect);
    };
    this.stage = new Stage({ ...options, sheetWatcher, watcher, onSuspect });
    this.people.stage = this.stage;
    if (this.stage.sql) this.people.sql = new SqlWork(this.stage.sql, this.people.ownerOfRecord);
  }

  async perform(operations: readonly Operation[]): Promise<void> {
    await this.#prepare();
    backUp(this.people);
    this.stage.isUnderWay = true;
    for (const [index, operation] of operations.entries()) {
      const done = await this.#happen(operation);
      this.stage.trace.push(`${index} ${this.stage.clock.monotonicMs()} ${operation.kind}: ${done}`);
      this.#check();
    }
    this.stage.sql?.database.held.clear();
    const knownBy = this.#hasMishaps ? await endMishaps(this.stage) : 0;
    await comeToRest(this.people, knownBy);
    this.#check();
    checkEqual(this.people);
    checkNothingLost(this.people);
    checkOwnCells(this.people);
    checkNotes(this.people);
    checkTables(this.people);
    await checkFixpoint(this.people);
    this.#check();
  }

  hash(): string {
    const { crm, spreadsheet } = this.stage;
    const { leads, tasks } = crm.records;
    const rows = this.stage.sql?.database.content ?? {};
    const ends = [this.stage.trace, leads.live(), tasks.live(), spreadsheet.current().sheets, rows];
    return createHash('sha256').update(JSON.stringify(ends)).digest('hex').slice(0, 16);
  }

  /** Some records, their rows, and what people keep beside them. */
  async #prepare(): Promise<void> {
    const random = createRandom(this.#seed ^ 0x9e37);
    // Many can be deleted at once only where there are some.
    const leadsMax = this.#hasMishaps && random.integer(0, 1) === 0 ? 9 : 6;
    for (let count = random.integer(3, leadsMax); count > 0; count -= 1) createRecord(this.people, 'lead');
    for (let count = random.integer(2, 4); count > 0; count -= 1) createRecord(this.people, 'task');
    await this.stage.layOut();
    await this.stage.start();
    // All records were read before the tabs were laid out.
    await settle(this.people, { sweepsMin: 0, cyclesMin: 0 });
    this.people.act({
      kind: 'paste',
      sheet: sheetIds.other,
      row: 0,
      column: 0,
      rows: [
        ['Ours', '=1+2'],
        ['Keep', '7'],
      ],
    });
    for (const tab of allTabs(this.people)) addOwnColumns(this.people, tab);
    for (const tab of allTabs(this.people)) keepNotes(this.people, tab);
  }

  async #happen(operation: Operation): Promise<string> {
    const { kind, which, what, how } = operation;
    const { stage } = this;
    switch (kind) {
      case 'proceed': {
        const done = [];
        for (let steps = 1 + (which % 6); steps > 0; steps -= 1) done.push(await stage.proceed());
        return done.join(', ');
      }
      case 'advance': {
        const done = stage.wire.size === 0 ? await stage.proceed() : stage.wire.advance(which, what % 4 > 0);
        await stage.settleDown();
        return done;
      }
      case 'tick':
        await stage.clock.advance(how % 4_000);
        await stage.settleDown();
        return `${how % 4_000} ms`;
      default: {
        if (isOfSql(kind)) return workBySql(this.people, operation);
        if (isOfRule(kind)) return workOnRule(this.people, operation);
        if (isMishap(kind)) return mishap(this.people, operation);
        const { revision } = stage.spreadsheet.file;
        if (kind.endsWith('CRM')) workInCrm(this.people, operation);
        else workInSheet(this.people, operation);
        return kind.endsWith('CRM') || stage.spreadsheet.file.revision > revision ? 'done' : 'nothing to do';
      }
    }
  }

  #check(): void {
    const { engine, bug, link } = this.stage;
    if (bug) throw bug;
    if (engine.lastPlan) checkBrakes(engine.lastPlan);
    if (link.mirror.readOpenWrites().length === 0) this.people.masses.check();
    checkAgreed(this.people);
    checkBudget(this.people);
  }
}

function addOwnColumns(people: People, tab: TabView): void {
  const end = tab.headers.findLastIndex((header) => header !== '') + 1;
  people.act(
    { kind: 'edit', sheet: tab.sheetId, row: 0, column: end, text: ownerHeader },
    { kind: 'edit', sheet: tab.sheetId, row: 0, column: end + 1, text: formulaHeader },
    ...(people.stage.hasRule && tab.entity === 'lead'
      ? [{ kind: 'edit' as const, sheet: tab.sheetId, row: 0, column: end + 2, text: noteHeader }]
      : []),
  );
}
