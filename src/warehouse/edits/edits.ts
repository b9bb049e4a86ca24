import { type Entity, isListed } from '../../core/record.ts';
import { finishInTurns } from '../../core/slices.ts';
import { isOnItsWay, type OutboxItem } from '../../core/state.ts';
import type { TakenEdit } from '../../core/taken-edit.ts';
import { answersTo } from '../../core/waiting/answer.ts';
import { conflictScope } from '../../core/waiting/scopes.ts';
import { wake } from '../../sync/pushing/pusher.ts';
import { forgetStep } from '../../sync/pushing/unanswered.ts';
import { readOwnCatalog } from '../../sync/reading/account.ts';
import type { Question } from '../../sync/side.ts';
import { questionOf } from '../brakes.ts';
import type { EditTerms, WarehouseLink } from '../link.ts';
import { newWarehouseError } from '../port/errors.ts';
import type { TableLayout, WarehouseLayout } from '../port/layout.ts';
import type { AskedQuestion, EditedRow, EndedEdit, Questions, ReadEdits } from '../port/port.ts';
import { showSql } from './context.ts';
import { type DecidedAll, EditDesk, nothingDecided } from './desk.ts';
import { isNoted } from './landing.ts';
import { mayBeDeleted, rememberedMs } from './old-edits.ts';
import { takeAnswers, takeEdits } from './take-over.ts';
import { Turns } from './turns.ts';

/** What a user of SQL calls the value of the row, which is the sheet's elsewhere. */
const toSqlWord = (answer: string): string => (answer === 'sheet' ? 'sql' : answer);

/** So many edits are read at once. */
const pageMax = 5_000;

/** A notification can be lost with its connection: after this time new edits are looked for anyway. */
const safetyLookMs = 60_000;

/** The edits of the tables: when they are looked for, and what was decided about them. */
export class WarehouseEdits {
  readonly #link: WarehouseLink;
  /** Absent where edits are refused. */
  readonly #desk: EditDesk | undefined;
  #hasNews = true;
  #hasDecided = false;
  /** Questions whose answers were taken from the database, where they are still. */
  #answered = new Set<string>();
  /** The questions that were written last, as JSON. */
  #shown = '[]';
  /** All open edits are read once after the database was met: the mirror may not know some that it took. */
  #readsAll = true;
  /** Monotonic ms. */
  #lookedAt = Number.NEGATIVE_INFINITY;

  constructor(link: WarehouseLink) {
    this.#link = link;
    this.#desk = link.editing && new EditDesk(link, link.editing);
  }

  get decided(): DecidedAll {
    return this.#desk?.decided ?? nothingDecided;
  }

  /** Calls `onNews` when there may be new edits. */
  listen(onNews: () => void): void {
    const { database, editing } = this.#link;
    if (!editing?.isNotified) return;
    database.listen(() => {
      this.#hasNews = true;
      onNews();
    });
  }

  noteNews(): void {
    this.#hasNews = true;
  }

  /** The database may be another one, or as it was earlier. */
  noteMet(): void {
    this.#hasNews = true;
    this.#readsAll = true;
    this.#shown = '';
  }

  /** In how many ms new edits are looked for at the latest. */
  get lookInMs(): number {
    const { clock, editing } = this.#link;
    if (!editing) return Number.POSITIVE_INFINITY;
    return Math.max(0, this.#lookedAt + this.#lookMs - clock.monotonicMs());
  }

  get #lookMs(): number {
    const { editing } = this.#link;
    return editing?.isNotified ? safetyLookMs : (editing?.pollMs ?? safetyLookMs);
  }

  /** Whether new edits are to be looked for now. */
  get isDue(): boolean {
    return this.#link.editing !== undefined && (this.#hasNews || this.lookInMs === 0);
  }

  /** Takes new edits over if there may be some, and decides about all that are open. */
  async decide(
    layout: WarehouseLayout,
    others: readonly Question[] = [],
    behind: ReadonlySet<Entity> = new Set(),
  ): Promise<void> {
    const { clock, mirror } = this.#link;
    if (!this.#desk) return;
    if (this.isDue) await this.take(layout, others);
    const catalog = readOwnCatalog(mirror);
    if (!catalog) return;
    const toWake = await finishInTurns(this.#desk.decide(catalog, behind), clock);
    this.#hasDecided = true;
    await wake(this.#link, toWake);
  }

  /** Takes new edits over; nothing is decided before all of them are known, or a brake would not see how many there are. */
  async take(layout: WarehouseLayout, others: readonly Question[] = []): Promise<void> {
    const { clock, editing, mirror } = this.#link;
    if (!editing) return;
    const isAll = this.#readsAll;
    this.#hasNews = false;
    this.#lookedAt = clock.monotonicMs();
    const read = new Set<string>();
    const turns = new Turns(mirror);
    try {
      for await (const { answers, rows } of this.#read(layout.tables, isAll)) {
        for (const { edits } of rows) for (const { editId } of edits) read.add(editId);
        const takeRows = turns.takeAll(rows, (some) => takeEdits(this.#link, editing, layout, some));
        await finishInTurns(takeRows, clock);
        // Before the first decision nobody knows what is asked.
        if (!this.#hasDecided || answers.length === 0) continue;
        mirror.transaction(() => {
          const asked = [...others, ...this.questions()];
          for (const scope of takeAnswers(this.#link, answers, asked)) this.#answered.add(scope);
        });
      }
      if (isAll) await this.#endForgotten(editing, read);
      mirror.edits.forget(clock.now() - rememberedMs(editing));
      this.#readsAll = false;
    } catch (error) {
      this.#hasNews = true;
      throw error;
    }
  }

  /**
   * A mirror that was put back holds edits open that are over by what the database knows, or were deleted there because they are over for long: decided
   * again, they would be sent twice. `read` names those that are open in the database.
   */
  async #endForgotten(terms: EditTerms, read: ReadonlySet<string>): Promise<void> {
    const { clock, database, entities, mirror } = this.#link;
    const now = clock.now();
    const open = mirror.edits.readOpen().filter(({ isUnlogged }) => !isUnlogged);
    if (open.length === 0) return;
    const ended = await database.readEnded(open.map(({ editId }) => editId));
    const known = new Set([...read, ...ended.map(({ editId }) => editId)]);
    const deleted = open.filter(
      ({ at, editId, key }) =>
        entities.includes(key.entity) && !known.has(editId) && mayBeDeleted(at, now, terms),
    );
    mirror.transaction(() => {
      for (const { editId, newId, note, state } of [...ended, ...deleted.map(endDeleted)]) {
        const edit = mirror.edits.find(editId);
        if (!edit) continue;
        const key = newId === undefined || !isListed(edit.key.entity) ? edit.key : { ...edit.key, id: newId };
        mirror.edits.save({ ...edit, key, state, note, newId, isTold: true, toldAt: now });
        // What was edited in the row since is an edit of the record that was made.
        for (const each of key === edit.key ? [] : mirror.edits.findOpen(edit.key))
          mirror.edits.save({ ...each, key });
        forgetStep(mirror, edit.key, now);
        mirror.dropAgreement(edit.key);
      }
    });
  }

  async *#read(tables: readonly TableLayout[], isAll: boolean): AsyncGenerator<ReadEdits> {
    const { database, mirror } = this.#link;
    for (let after: string | undefined = '0'; after !== undefined; ) {
      const read = await database.readEdits(tables, { limit: pageMax, after, isAll });
      const known = mirror.feed.lastRun();
      if (read.lastRun !== known)
        throw newWarehouseError(
          'WAREHOUSE_WENT_BACK',
          `${database.name} has ${read.lastRun} as its last run, and that of this mirror is ${known}.`,
        );
      if (read.rows.length > 0 || read.answers.length > 0) yield read;
      after = read.next;
    }
  }

  /** What is new and was not taken, for a plan: nothing of it is kept. */
  async preview(layout: WarehouseLayout): Promise<readonly EditedRow[]> {
    if (!this.#link.editing) return [];
    const all: EditedRow[] = [];
    for await (const { rows } of this.#read(layout.tables, false)) all.push(...rows);
    return all;
  }

  /** Whether a step is not sent now. */
  isWithheld(item: OutboxItem): boolean {
    const isStopped = this.#desk?.isStopped(item.key.entity) ?? false;
    return isStopped || !isNoted(this.#link.mirror, item);
  }

  /** Whether a step waits that may be sent. */
  get hasSteps(): boolean {
    const isSendable = (item: OutboxItem) => isOnItsWay(item) && !this.isWithheld(item);
    return this.#link.mirror.readOutbox().some(isSendable);
  }

  /** What the database is to show of questions; `undefined` where it shows that. `others` are asked beside those about edits. */
  questionsDue(
    others: readonly Question[],
  ): { readonly questions: Questions; noteWritten(): void } | undefined {
    if (!this.#link.editing) return undefined;
    const asked = [...others, ...this.questions()].map(
      ({ about, answers, scope, what }): AskedQuestion => ({
        scope,
        entity: about['table'] ?? '',
        id: about['id'] ?? '',
        what: [what, about['crm'] && `The CRM has ${about['crm']}, SQL ${about['sql']}.`]
          .filter(Boolean)
          .join(' '),
        answers: answers.map(toSqlWord),
      }),
    );
    const text = JSON.stringify(asked);
    const taken = [...this.#answered];
    if (text === this.#shown && taken.length === 0) return undefined;
    const noteWritten = () => {
      this.#shown = text;
      for (const scope of taken) this.#answered.delete(scope);
    };
    return { questions: { asked, taken }, noteWritten };
  }

  questions(): readonly Question[] {
    const { conflicts, holds, refusals } = this.decided;
    const named = [...holds, ...refusals.filter(({ isIgnored }) => !isIgnored)].flatMap(
      ({ decision, entity, id, reason }) =>
        decision === undefined ? [] : [ask(decision, reason, { table: entity, id: id ?? '' })],
    );
    const ofConflicts = conflicts.map(({ agreed, crm, field, key, table }) =>
      ask(
        conflictScope(key, field),
        `Both the CRM and SQL changed ${field} of ${key.entity} ${key.id}.`,
        {
          table: key.entity,
          id: key.id,
          field,
          crm: showSql(crm),
          sql: showSql(table),
          agreed: showSql(agreed),
        },
        JSON.stringify({ crm, table }),
      ),
    );
    return [...this.decided.brakes.map(questionOf), ...ofConflicts, ...named];
  }
}

const endDeleted = ({ editId }: TakenEdit): EndedEdit => ({
  editId,
  state: 'void',
  note: 'It is over, and the database keeps it no longer.',
});

const ask = (scope: string, what: string, about: Question['about'], shown?: string): Question => ({
  scope,
  what,
  about,
  answers: answersTo(scope),
  shown,
});
