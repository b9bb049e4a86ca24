import { emptyCatalog } from '../core/fields/catalog.ts';
import { findField } from '../core/fields/field.ts';
import { findEditFault } from '../core/merge.ts';
import { type RecordKey, recordKeyText } from '../core/record.ts';
import type { OutboxItem } from '../core/state.ts';
import { answersTo } from '../core/waiting/answer.ts';
import { shownUnder } from '../core/waiting/brakes.ts';
import type { Conflict } from '../core/waiting/waiting.ts';
import { labelsOf } from '../sync/labels.ts';
import type { PlanDifference, Question, Side, SidePace, SideReport } from '../sync/side.ts';
import { type Decoded, decode, encode } from './cells/codec.ts';
import { namesOf } from './cells/lead-names.ts';
import { decodeTyped } from './cells/read-cell.ts';
import { showWhole } from './cells/sync-text.ts';
import { beginTrail, type CycleResult, dryRun, type Round, runCycle, type Trail } from './cycle.ts';
import { currentLayout, type LayoutLink } from './layout.ts';
import { LeadOffer } from './lead-offer.ts';
import type { SheetLink } from './link.ts';
import { ruleOf } from './only-rules.ts';
import { isQuiet, type Plan } from './plans/plan.ts';
import { comparePlans } from './plans/plan-difference.ts';
import { countLeft, isWithheld, PlanGate } from './plans/plan-gate.ts';
import { describeCell, emptyCell, equalCells, textCell } from './port/cell.ts';
import { sheetHints } from './port/errors.ts';
import { describeInstance } from './port/instance.ts';
import { columnOf, type Layout, tabOf } from './port/layout.ts';
import type { RowStep } from './port/table.ts';
import { SoleWriter } from './sole-writer.ts';
import { tableLayout } from './tab-columns.ts';
import { type ToldPlan, tellPlan } from './told-plan.ts';

/** Reading and writing the sheet stays within Google's quota. */
const cycleGapMs = 1_500;

/** Rows that go on moving while they are written are left to the next turn after so many cycles in a row. */
const roundsMax = 5;

/** The spreadsheet as a side. */
export class SheetSide implements Side {
  readonly name = 'sheet';
  readonly title = 'the spreadsheet';
  readonly url: string | undefined;
  readonly mirror: SheetLink['mirror'];
  readonly pace: SidePace;
  readonly askedAt: string;
  readonly tally = { tableSteps: 0, undoneWrites: 0, escalatedWrites: 0 };
  report: SideReport | undefined;
  /** The plan of the last cycle that went through. */
  lastPlan: Plan | undefined;
  readonly #link: SheetLink;
  readonly #writer: SoleWriter;
  readonly #gate: PlanGate;
  readonly #offer: LeadOffer;
  /** The plan that was made last; what it stops is stopped at once, also where the table can not be written. */
  #decided: Plan | undefined;
  /** What the plans counted, each tab when it was read last. */
  #leftOut: Plan['leftOut'] = {};
  #trail: Trail;
  /** What was laid out last. */
  #laidOut: Layout | undefined;

  constructor(link: SheetLink) {
    const { clock, mirror, policy, times } = link;
    const tab = policy.questionsTitle;
    this.#link = link;
    this.mirror = mirror;
    this.url = link.url;
    // A mark that does not move for longer is taken for one of an instance that is gone.
    const pollMs = Math.min(times.pollMs, times.markMs);
    const quietPollMs = Math.min(times.quietPollMs, times.markMs);
    this.pace = { gapMs: cycleGapMs, pollMs, quietPollMs, restlessMs: times.typingPauseMs };
    this.askedAt = tab === undefined ? '“status” lists them.' : `Answer in the tab ${tab}, or see “status”.`;
    this.#trail = beginTrail(clock.now());
    this.#gate = new PlanGate(link);
    this.#offer = new LeadOffer(link);
    this.#writer = new SoleWriter(link);
  }

  /** Returns what was applied, or what was planned where nothing was. */
  async cycle(): Promise<Plan> {
    const round = {
      choose: (plan: Plan) => this.#gate.pass(plan),
      begin: (plan: Plan) => this.#gate.begin(plan),
    };
    const { applied, plan } = await this.#runRounds(round, round);
    return applied ?? plan;
  }

  async plan(): Promise<ToldPlan> {
    const plan = await dryRun(this.#link, this.#start);
    this.#gate.keep(plan);
    return { ...plan, told: tellPlan(labelsOf(this.#link), plan) };
  }

  async apply(run: string): Promise<readonly PlanDifference[] | undefined> {
    const kept = this.#gate.find(run);
    if (!kept) return undefined;
    let differences: PlanDifference[] = [];
    const choose = (plan: Plan) => {
      differences = comparePlans(kept, plan);
      return differences.length === 0 ? plan : undefined;
    };
    const first = { run, choose, begin: (plan: Plan) => this.#gate.open(plan) };
    // What was undone is done again, and nothing that was not in the plan.
    const isWithin = (plan: Plan) => comparePlans(kept, plan).every(({ now }) => now === undefined);
    const rest = {
      choose: (plan: Plan) => (isWithin(plan) ? plan : this.#gate.pass(plan)),
      begin: (plan: Plan) => (isWithin(plan) ? this.#gate.open(plan) : this.#gate.begin(plan)),
    };
    await this.#runRounds(first, rest).catch((error) => this.#gate.fail(run, error));
    return differences;
  }

  /** Those count of which something is agreed. */
  countRows(): ReturnType<Side['countRows']> {
    const agreed = this.mirror
      .readAgreements()
      .filter(({ fields, leave }) => Object.keys(fields).length > 0 && leave?.state !== 'left');
    const byEntity = Map.groupBy(agreed, ({ key }) => key.entity);
    return Object.fromEntries(
      this.#link.entities.map((entity) => [entity, byEntity.get(entity)?.length ?? 0]),
    );
  }

  countLeftOut(): ReturnType<Side['countRows']> {
    const { entities, policy } = this.#link;
    const plain = entities.filter((entity) => ruleOf(policy, entity) === undefined);
    return { ...Object.fromEntries(plain.map((entity) => [entity, 0])), ...this.#leftOut };
  }

  isWithheld(item: OutboxItem): boolean {
    if (!this.#writer.mayWrite) return true;
    return isWithheld(item, [this.lastPlan, this.#decided], this.#trail.memory);
  }

  lookedBefore(key: RecordKey): number | undefined {
    return this.#trail.firstLooks.get(recordKeyText(key))?.before;
  }

  readTyped: Side['readTyped'] = (conflict, text) => readTyped(this.#link, conflict, text);

  /** Nothing is wrong with the work of this daemon; but the operator of the other one expects that one to work. */
  notices(): ReturnType<Side['notices']> {
    const { waiting } = this.#writer;
    if (!waiting) return [];
    const words = `Another daemon (${describeInstance(waiting)}) waits until this one stops keeping this sheet. ${sheetHints.SHEET_AWAITED}`;
    return [{ code: 'SHEET_AWAITED', words }];
  }

  expectWriter(): void {
    this.#writer.expectWriter();
  }

  leave(): Promise<void> {
    return this.#writer.leave();
  }

  get #start() {
    return { tally: this.tally, trail: this.#trail, writer: this.#writer };
  }

  /**
   * A cycle, and further ones as long as steps are undone because rows moved meanwhile. Fails at the end where the sheet did not take all of
   * it.
   */
  async #runRounds(order: Round, rest: Round): Promise<CycleResult> {
    let result = await this.#runCycle(order);
    const mayLayOut = order.run === undefined ? !this.#gate.isManual : result.applied !== undefined;
    for (let rounds = 1; result.undoneSteps > 0 && rounds < roundsMax; rounds += 1) {
      const before = this.report?.toSide ?? 'nothing';
      result = await this.#runCycle(rest);
      if (this.report?.toSide === 'nothing') this.report = { ...this.report, toSide: before };
    }
    // After the cycle: a new column is known for new by the mark that laying out gives it.
    if (mayLayOut) await this.#layOut(result.hasFreshColumns);
    if (mayLayOut && !result.refusal && this.#writer.mayWrite)
      await this.#offer.renew(currentLayout(this.#link), () => this.mirror.readRecords());
    // Not before: the tabs that the sheet does take must not stand still with the one that it refuses.
    if (result.refusal) throw result.refusal;
    return result;
  }

  async #runCycle(order: Round): Promise<CycleResult> {
    const choose = (plan: Plan) => {
      this.#decided = plan;
      return order.choose(plan);
    };
    const result = await runCycle(this.#link, { ...order, ...this.#start, choose });
    this.#trail = result.trail;
    this.lastPlan = result.plan;
    this.#leftOut = { ...this.#leftOut, ...result.plan.leftOut };
    const { appendsMax, updatesMax } = this.#link.policy;
    const count = (kind: RowStep['kind']) =>
      result.applied?.table.filter(({ write }) => write.kind === kind).length ?? 0;
    const hasMore = count('append') >= appendsMax || count('set') >= updatesMax;
    this.report = { ...describeResult(result), hasMore };
    this.tally.tableSteps += result.applied?.table.length ?? 0;
    return result;
  }

  async #layOut(hasFreshColumns: boolean): Promise<void> {
    const layout = currentLayout(this.#link);
    const isSame = JSON.stringify(layout) === JSON.stringify(this.#laidOut);
    if (!isSame || hasFreshColumns) await this.#link.table.layOut(tableLayout(this.#link), 'refresh');
    this.#laidOut = layout;
  }
}

function describeResult({ applied, plan }: CycleResult): SideReport {
  const { at, brakes, conflicts, holds, refusals, restlessRows, table } = plan;
  return {
    at,
    brakes,
    holds,
    conflicts,
    refusals,
    questions: plan.questions.map(
      ({ cells: { what = emptyCell, ...cells }, scope }): Question => ({
        scope,
        what: describeCell(what),
        about: Object.fromEntries(Object.entries(cells).map(([name, cell]) => [name, describeCell(cell)])),
        answers: answersTo(scope),
        shown: shownUnder(scope, brakes),
      }),
    ),
    restlessRows,
    hasWork: !isQuiet(plan),
    hasActed: !isQuiet(applied ?? plan),
    unapplied: countLeft(plan, applied ?? plan),
    toSide: table.length === 0 ? 'nothing' : applied ? 'written' : 'waiting',
  };
}

/** Reads a text like the cell of the field would be read, and refuses what would be refused there. */
export function readTyped(link: LayoutLink, conflict: Conflict, text: string): Decoded {
  const { mirror } = link;
  const { agreed, crm, field: name, key, table } = conflict;
  const { entity } = key;
  const catalog = mirror.readCatalog() ?? emptyCatalog;
  // No instant can be typed, so the zone does not matter.
  const records = mirror.readRecords();
  const names = namesOf({ catalog, records }, 'UTC');
  const tab = tabOf(currentLayout(link), entity);
  const column = tab && columnOf(tab, name);
  const definition = findField(entity, name, catalog);
  if (!column || !definition) return { kind: 'refused', reason: `${name} is not kept the same any more.` };
  const field = { ...definition, header: column.header };
  const cell = textCell(text);
  // What a side has or both had is taken as the row takes it, also where nobody could type it.
  const isKnown = [agreed, crm, table].some((value) => equalCells(cell, encode(field, value, names)));
  const decoded = (isKnown ? decode : decodeTyped)(field, cell, names);
  if (decoded.kind === 'refused') return decoded;
  const fault = findEditFault({ rules: column, field }, crm, decoded.value, (value) =>
    showWhole(field, value, names),
  );
  if (fault !== undefined) return { kind: 'refused', reason: fault };
  return decoded;
}
