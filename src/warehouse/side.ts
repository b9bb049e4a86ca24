import { isSyncError } from '../core/errors.ts';
import type { Entity } from '../core/record.ts';
import type { OutboxItem } from '../core/state.ts';
import type { Hold } from '../core/waiting/waiting.ts';
import { labelsOf } from '../sync/labels.ts';
import type { Link } from '../sync/link.ts';
import { wake } from '../sync/pushing/pusher.ts';
import { readOwnCatalog } from '../sync/reading/account.ts';
import type { PlanDifference, Question, Side, SidePace, SideReport } from '../sync/side.ts';
import { type AuditReport, audit } from './audit.ts';
import { behindEntities, behindHolds, hasCaughtUp } from './behind.ts';
import { endApprovals, findBrakes, questionOf } from './brakes.ts';
import { layoutOf, nextColumns } from './columns.ts';
import { WarehouseEdits } from './edits/edits.ts';
import { warehouseFacts } from './facts.ts';
import { freshnessOf } from './freshness.ts';
import { LaidOut } from './laid-out.ts';
import { fillDue, writeDue } from './land.ts';
import type { WarehouseLink, WarehouseTerms } from './link.ts';
import { comparePlans, editsOf, tellPlan, type WarehousePlan } from './plan.ts';
import { newWarehouseError } from './port/errors.ts';
import type { WarehouseLayout } from './port/layout.ts';
import type { EditedRow, Meeting } from './port/port.ts';
import { forgetWritten, recover } from './recover.ts';
import { referencesOf } from './references.ts';

/** Several changes that are seen at once are written at once. */
const gapMs = 20;

/** A cycle comes at least once in this time: what is put off, and freshness, come due by themselves. */
const pollMaxMs = 60_000;
const pollMinMs = 1_000;

/** After this time a cycle ends although more is due, so that it can be stopped. */
const cycleMaxMs = 10_000;

/** How often one cycle finds out anew how the database was left. */
const recoveriesMax = 3;

/** Records that cannot be written are listed up to this number. */
const shownMax = 100;

/** The database as a side: the tables follow the CRM's records, and where that is switched on, edits by SQL go to the CRM. */
export class WarehouseSide implements Side {
  readonly name = 'warehouse';
  readonly title = 'the warehouse';
  readonly askedAt = '“status” lists them.';
  readonly mirror: WarehouseLink['mirror'];
  readonly tally = { tableSteps: 0, undoneWrites: 0, escalatedWrites: 0 };
  report: SideReport | undefined;
  /** Of the last comparison of all rows since the start. */
  lastAudit: AuditReport | undefined;
  readonly #link: WarehouseLink;
  /** What the database said when it was last met; absent after any failure. */
  #met: Meeting | undefined;
  /** Whether this process knew once how the database was left. */
  #hasMet = false;
  readonly #laidOut: LaidOut;
  readonly #edits: WarehouseEdits;
  #kept: WarehousePlan | undefined;
  #freshAt = Number.NEGATIVE_INFINITY;

  constructor(link: Link, terms: WarehouseTerms) {
    this.mirror = link.mirror.of(this.name);
    this.#link = { ...link, ...terms, mirror: this.mirror };
    this.#laidOut = new LaidOut(this.#link);
    this.#edits = new WarehouseEdits(this.#link);
  }

  get pace(): SidePace {
    const { clock, freshnessMs } = this.#link;
    const dueInMs = (this.mirror.feed.nextDueAt() ?? Number.POSITIVE_INFINITY) - clock.now();
    const idleMs = freshnessMs > 0 ? Math.min(freshnessMs, pollMaxMs) : pollMaxMs;
    const soonMs = Math.min(dueInMs, idleMs, this.#edits.lookInMs);
    const pollMs = this.#met ? Math.max(pollMinMs, soonMs) : pollMinMs;
    return { gapMs, pollMs, restlessMs: pollMs };
  }

  async cycle(): Promise<void> {
    const isWritten = await this.#work(async (layout) => {
      if (this.#link.isManual) return false;
      return this.#land(layout);
    });
    this.#report(isWritten);
  }

  async plan(): Promise<WarehousePlan> {
    this.#kept = await this.#planAnew();
    return this.#kept;
  }

  async apply(run: string): Promise<readonly PlanDifference[] | undefined> {
    const kept = this.#kept;
    if (kept?.run !== run) return undefined;
    const differences = comparePlans(kept, await this.#planAnew());
    if (differences.length > 0) return differences;
    this.#kept = undefined;
    const due = sumOf(this.mirror.feed.countDue());
    this.#report(await this.#work((layout) => this.#land(layout, due)));
    return [];
  }

  /** Looks at the tables anew, compares all rows with the CRM's records, and writes what differs. */
  async compare(): Promise<AuditReport> {
    let report: AuditReport | undefined;
    this.#laidOut.forget();
    await this.#work(async (layout) => {
      if (!this.#link.isManual) await this.#land(layout);
      report = await this.#audit(layout);
      return !this.#link.isManual && this.#land(layout);
    });
    if (!report)
      throw newWarehouseError(
        'WAREHOUSE_BUSY',
        'The CRM was not read so far: there is nothing to compare with.',
      );
    return report;
  }

  countRows(): ReturnType<Side['countRows']> {
    return Object.fromEntries(
      this.#link.entities.map((entity) => [entity, this.mirror.readFact(warehouseFacts.rows(entity)) ?? 0]),
    );
  }

  isWithheld(item: OutboxItem): boolean {
    return this.#link.editing !== undefined && (!this.report || this.#edits.isWithheld(item));
  }

  listen(onNews: () => void): void {
    this.#edits.listen(onNews);
  }

  lookedBefore = () => undefined;
  readTyped: Side['readTyped'] = () => ({ kind: 'refused', reason: 'Write another value by SQL.' });
  notices = () => [];
  expectWriter = () => undefined;

  async leave(): Promise<void> {
    await this.#link.database.close();
  }

  /** Works at a database that is met and as it was left, again where that turns out to be otherwise meanwhile. Returns whether anything was written. */
  async #work(work: (layout: WarehouseLayout) => Promise<boolean>): Promise<boolean> {
    for (let recoveries = 0; ; recoveries += 1) {
      try {
        this.#met ??= await this.#meet();
        const layout = this.#layout();
        return layout ? await work(layout) : false;
      } catch (error) {
        this.#met = undefined;
        const isRecoverable = isSyncError(error, 'WAREHOUSE_WENT_BACK', 'WAREHOUSE_UNKNOWN_OUTCOME');
        if (!isRecoverable || recoveries >= recoveriesMax) throw error;
      }
    }
  }

  async #meet(): Promise<Meeting> {
    const { database } = this.#link;
    const met = await database.meet();
    this.#laidOut.forget();
    if (met.isReadOnly) throw newWarehouseError('WAREHOUSE_READ_ONLY', `${database.name} takes no writes.`);
    if (met.keeper === 'other')
      throw newWarehouseError(
        'WAREHOUSE_KEPT',
        `The tables in ${database.name} are kept by another daemon or mirror.`,
      );
    const { feed } = this.mirror;
    // Tables that are made anew hold nothing of what was written before.
    const isAnew = met.keeper === 'none' || (met.lastRun === 0 && feed.lastRun() > 0);
    if (!isAnew) await recover(this.#link, met.lastRun, this.#hasMet);
    else if (feed.lastRun() > 0 || feed.pendingRun()) this.#beginAnew();
    this.#hasMet = true;
    this.#edits.noteMet();
    return met;
  }

  /** The database lost everything: all of it is written again. */
  #beginAnew(): void {
    const { entities, log } = this.#link;
    log.warn('warehouse.begun-anew', {});
    this.mirror.transaction(() => {
      const { feed } = this.mirror;
      if (feed.pendingRun()) feed.dropRun();
      feed.setLastRun(0);
      feed.noteAllDue();
      for (const entity of entities) {
        this.mirror.saveFact(warehouseFacts.rows(entity), 0);
        this.mirror.dropFact(warehouseFacts.behind(entity));
      }
      forgetWritten(this.mirror);
    });
  }

  /** The tables as the CRM wants them now; absent before its catalog was read. */
  #layout(): WarehouseLayout | undefined {
    const { clock } = this.#link;
    const catalog = readOwnCatalog(this.mirror);
    if (!catalog) return undefined;
    const kept = this.mirror.readFact(warehouseFacts.columns) ?? [];
    const custom = nextColumns(kept, catalog, new Date(clock.now()).toISOString());
    const isFilled = ({ key, name }: (typeof custom)[number]) =>
      kept.some((column) => column.key === key && column.name === name && column.retiredAt === undefined);
    this.mirror.transaction(() => {
      this.mirror.saveFact(warehouseFacts.columns, custom);
      const hasNew = custom.some((column) => column.retiredAt === undefined && !isFilled(column));
      const leads = hasNew ? this.mirror.readRecords('lead') : [];
      this.mirror.feed.noteDue(leads.filter(({ presence }) => presence === 'present').map(({ key }) => key));
    });
    return layoutOf(this.#link, catalog, custom);
  }

  /**
   * Lays out, writes what may be written, and says how fresh it is. Goes on as long as a cycle may, or until so many records are carried as
   * are wanted. Returns whether a row was written.
   */
  async #land(layout: WarehouseLayout, wanted = 0): Promise<boolean> {
    const { clock, log } = this.#link;
    await this.#laidOut.keep(layout);
    if (this.#isAuditDue()) await this.#audit(layout);
    const begunAt = clock.monotonicMs();
    await this.#decideEdits(layout);
    let rows = 0;
    const toFill = new Set(this.#link.entities);
    for (let written = 1; written > 0; ) {
      if (rows >= wanted && clock.monotonicMs() - begunAt >= cycleMaxMs) break;
      if (this.#edits.isDue) await this.#decideEdits(layout);
      written = await this.#landSome(layout, toFill);
      rows += written;
    }
    this.mirror.transaction(() => endApprovals(this.mirror, this.#link.entities));
    this.tally.tableSteps += rows;
    if (rows > 0) log.info('warehouse.written', { rows });
    await this.#refresh();
    return rows > 0;
  }

  /** Returns how many records were carried. A table leaves `toFill` once there is no longer enough to fill it with: finding out looks at all that is due. */
  async #landSome(layout: WarehouseLayout, toFill: Set<Entity>): Promise<number> {
    const entities = this.#writable();
    // What came of edits is told all the same, as long as the tables are as they were laid out.
    if (entities.length === 0 && this.#find().brakes.length === 0) return 0;
    for (const table of layout.tables) {
      if (!toFill.has(table.entity) || !entities.includes(table.entity)) continue;
      const filled = await fillDue(this.#link, table);
      if (filled) return filled.records;
      toFill.delete(table.entity);
    }
    const references = this.#referencesDue();
    const asked = this.#edits.questionsDue(this.#ownQuestions());
    const parts = { references: references?.rows, questions: asked?.questions };
    const written = await writeDue(this.#link, layout, entities, parts);
    if (written) asked?.noteWritten();
    if (written !== undefined && references) this.mirror.saveFact(warehouseFacts.references, references.text);
    if (written?.hasEdited) this.#edits.noteNews();
    await wake(this.#link, written?.toPush ?? []);
    return written?.records ?? 0;
  }

  /** The reference data where it is not as it was written last. */
  #referencesDue() {
    const { clock, lostStages } = this.#link;
    const catalog = readOwnCatalog(this.mirror);
    if (!catalog) return undefined;
    const custom = this.mirror.readFact(warehouseFacts.columns) ?? [];
    const { at, ...rows } = referencesOf(catalog, { at: clock.now(), custom, lostStages });
    const text = JSON.stringify(rows);
    return this.mirror.readFact(warehouseFacts.references) === text
      ? undefined
      : { rows: { ...rows, at }, text };
  }

  #isAuditDue(): boolean {
    const { auditMinute, clock } = this.#link;
    const last = this.mirror.readFact(warehouseFacts.auditedAt);
    if (this.#laidOut.faults.length > 0) return false;
    if (hasCaughtUp(this.mirror, this.#link.entities, clock.now())) return true;
    // A table that was never filled has nothing to compare.
    if (last === undefined) return this.mirror.feed.lastRun() > 0;
    if (auditMinute === undefined) return false;
    const now = clock.now();
    const moment = new Date(now);
    moment.setHours(0, auditMinute, 0, 0);
    return now >= moment.getTime() && last < moment.getTime();
  }

  async #audit(layout: WarehouseLayout): Promise<AuditReport> {
    const held = new Set(this.#tableHolds().map(({ entity }) => entity));
    const tables = layout.tables.filter(({ entity }) => !held.has(entity));
    this.lastAudit = await audit(this.#link, { ...layout, tables }, () =>
      this.#edits.take(layout, this.#ownQuestions()),
    );
    for (const { entity } of tables) this.mirror.dropFact(warehouseFacts.behind(entity));
    return this.lastAudit;
  }

  async #refresh(): Promise<void> {
    const { clock, database, entities, freshnessMs } = this.#link;
    if (freshnessMs === 0 || clock.monotonicMs() - this.#freshAt < freshnessMs) return;
    // The table of freshness itself may be what is missing.
    if (this.#laidOut.isHeld()) return;
    const { brakes, holds } = this.#find();
    const due = sumOf(this.mirror.feed.countDue());
    const lateMs = lateFactor * this.#link.times.sweepMs;
    const terms = { entities, brakes, holds, due, lateMs, now: clock.now() };
    const lastRun = await database.touch(freshnessOf(this.mirror, terms));
    this.#freshAt = clock.monotonicMs();
    if (lastRun !== this.mirror.feed.lastRun())
      throw newWarehouseError('WAREHOUSE_WENT_BACK', `${database.name} has ${lastRun} as its last run.`);
  }

  /** The kinds of record whose tables can be written now. */
  #writable(): readonly Entity[] {
    const { brakes, holds } = this.#find();
    const held = new Set(
      [...brakes, ...holds.filter(({ id }) => id === undefined)].map(({ entity }) => entity),
    );
    return this.#link.entities.filter((entity) => !held.has(entity));
  }

  #find() {
    const { clock, entities, limits } = this.#link;
    const { feed } = this.mirror;
    const { decided } = this.#edits;
    const brakes = [...findBrakes(this.mirror, entities, limits, clock.now()), ...decided.brakes];
    const stuck = feed.readStuck(shownMax);
    const ofRows = stuck.shown.map(({ key, reason }): Hold => ({ entity: key.entity, id: key.id, reason }));
    return { brakes, holds: [...this.#tableHolds(), ...ofRows, ...decided.holds] };
  }

  /** The tables that are not written now, whatever is due. */
  #tableHolds(): readonly Hold[] {
    const { clock, entities } = this.#link;
    return [...this.#laidOut.holds, ...behindHolds(this.mirror, entities, clock.now())];
  }

  async #planAnew(): Promise<WarehousePlan> {
    let edited: readonly EditedRow[] = [];
    await this.#work(async (layout) => {
      edited = await this.#edits.preview(layout);
      return false;
    });
    const { clock, newWord } = this.#link;
    const { feed } = this.mirror;
    const { brakes, holds } = this.#find();
    const [due, deletes] = [feed.countDue(), feed.countGone()];
    const records = Object.fromEntries(
      Object.entries(due).map(([entity, count]) => [entity, count - (deletes[entity as Entity] ?? 0)]),
    );
    const plan = {
      run: newWord(),
      side: 'warehouse',
      at: clock.now(),
      records,
      deletes,
      edits: editsOf(edited),
      brakes,
      holds,
    } as const;
    return { ...plan, told: tellPlan(labelsOf(this.#link), plan) };
  }

  #decideEdits(layout: WarehouseLayout): Promise<void> {
    const { clock, entities } = this.#link;
    const behind = new Set(behindEntities(this.mirror, entities, clock.now()));
    return this.#edits.decide(layout, this.#ownQuestions(), behind);
  }

  /** Questions that are not about edits. */
  #ownQuestions(): readonly Question[] {
    const { clock, entities, limits } = this.#link;
    return findBrakes(this.mirror, entities, limits, clock.now()).map(questionOf);
  }

  #report(isWritten: boolean): void {
    const { clock, isManual = false } = this.#link;
    const { brakes, holds } = this.#find();
    const due = sumOf(this.mirror.feed.countDue());
    this.report = {
      at: clock.now(),
      brakes,
      holds,
      conflicts: this.#edits.decided.conflicts,
      refusals: this.#edits.decided.refusals,
      questions: [...this.#ownQuestions(), ...this.#edits.questions()],
      restlessRows: 0,
      hasWork: due > 0 || this.#edits.hasSteps,
      hasActed: isWritten,
      unapplied: isManual ? due : 0,
      toSide: isWritten ? 'written' : due > 0 ? 'waiting' : 'nothing',
    };
  }
}

/** A list of the CRM is late after so many of its pauses. */
const lateFactor = 20;

const sumOf = (counts: Readonly<Partial<Record<Entity, number>>>): number =>
  Object.values(counts).reduce((sum, count) => sum + count, 0);
