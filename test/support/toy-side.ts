import { waitingStep } from '../../src/core/outbox.ts';
import type { RecordId } from '../../src/core/record.ts';
import {
  emptyAgreement,
  type JournalEntry,
  type OutboxItem,
  type StoredRecord,
} from '../../src/core/state.ts';
import { equalValues, type FieldName, type Fields, pickFields, type Value } from '../../src/core/value.ts';
import { answersTo } from '../../src/core/waiting/answer.ts';
import { conflictScope } from '../../src/core/waiting/scopes.ts';
import { isForValues, readSideAnswer, readTypedAnswer } from '../../src/core/waiting/typed-answer.ts';
import type { Conflict } from '../../src/core/waiting/waiting.ts';
import type { Link } from '../../src/sync/link.ts';
import { wake } from '../../src/sync/pushing/pusher.ts';
import type { Side, SideReport } from '../../src/sync/side.ts';

/** The fields of leads that the map has. */
const names: readonly FieldName[] = ['title', 'about.url'];

interface ToyPlan {
  readonly run: string;
  readonly told: string[];
  readonly at: number;
  readonly save: OutboxItem[];
  readonly conflicts: Conflict[];
  readonly agreed: Pick<StoredRecord, 'fields' | 'key'>[];
  readonly journal: JournalEntry[];
  readonly answered: string[];
}

/** A whole side in one file: leads in a map, in which users type. */
export class ToySide implements Side {
  readonly name = 'toy';
  readonly title = 'the map';
  readonly pace = { gapMs: 1, pollMs: 50, restlessMs: 50 };
  readonly askedAt = '“status” lists them.';
  readonly tally = { tableSteps: 0, undoneWrites: 0, escalatedWrites: 0 };
  report: SideReport | undefined;
  readonly rows = new Map<RecordId, Fields>();
  /** What happens right before it looks the next time. */
  beforeLook: () => Promise<void> = async () => undefined;
  readonly mirror: Link['mirror'];
  readonly #link: Link;
  #kept: ToyPlan | undefined;

  constructor(link: Link) {
    this.mirror = link.mirror.of(this.name);
    this.#link = { ...link, mirror: this.mirror };
  }

  async cycle(): Promise<void> {
    await this.beforeLook();
    await this.#carryOut(this.#decide());
  }

  countRows = () => ({ lead: this.mirror.readAgreements().length });

  async plan(): Promise<ToyPlan> {
    this.#kept = this.#decide();
    return this.#kept;
  }

  async apply(run: string): Promise<[] | undefined> {
    return this.#kept?.run === run ? this.cycle().then(() => []) : undefined;
  }

  isWithheld = () => this.report === undefined;
  lookedBefore = () => undefined;
  readTyped: Side['readTyped'] = (_, text) =>
    text === '' ? { kind: 'refused', reason: 'It needs a text.' } : { kind: 'value', value: text };
  notices = () => [];
  expectWriter = () => undefined;
  leave = async () => undefined;

  #decide(): ToyPlan {
    const { clock, mirror, newWord } = this.#link;
    const nothing = { save: [], conflicts: [], agreed: [], journal: [], answered: [] };
    const plan: ToyPlan = { run: newWord(), told: [], at: clock.now(), ...nothing };
    for (const record of mirror.readRecords('lead')) {
      const item = mirror.findOutboxItem(record.key);
      // One that found the record moved is decided anew.
      if (!item || item.state === 'review') this.#decideRecord(plan, record);
    }
    return plan;
  }

  #decideRecord(plan: ToyPlan, record: StoredRecord): void {
    const { mirror } = this.#link;
    const { key } = record;
    const crm = pickFields(record.fields, names);
    const row = this.rows.get(key.id) ?? crm;
    const base = mirror.findAgreement(key)?.fields ?? {};
    const agreed: Record<FieldName, Value> = {};
    const sent: Record<FieldName, Value> = {};
    for (const [field, ours] of Object.entries(crm)) {
      const values = { agreed: base[field] ?? null, crm: ours, table: row[field] ?? null };
      const { choice, value } = this.#merge({ key, field, ...values });
      if (choice === 'ask') plan.conflicts.push({ key, field, ...values });
      else if (equalValues(value, ours)) agreed[field] = value;
      else sent[field] = value;
      if (choice === 'answer') plan.answered.push(conflictScope(key, field));
    }
    const changed = Object.keys(agreed).filter((field) => !equalValues(agreed[field]!, base[field] ?? null));
    if (changed.length > 0 || !this.rows.has(key.id)) plan.agreed.push({ key, fields: agreed });
    const [before, after] = [pickFields(row, changed), pickFields(agreed, changed)];
    const entry = { at: plan.at, run: plan.run, key, kind: 'update', before, after, lost: {} } as const;
    if (changed.length > 0) plan.journal.push({ ...entry, side: 'table', cause: 'changed in the CRM' });
    const step = { kind: 'update', fields: sent, base: pickFields(crm, Object.keys(sent)) } as const;
    if (Object.keys(sent).length > 0) plan.save.push(waitingStep({ now: plan.at, run: plan.run }, key, step));
  }

  #merge(conflict: Conflict): { readonly choice: 'merge' | 'answer' | 'ask'; readonly value: Value } {
    const { agreed, crm, field, key, table } = conflict;
    if (equalValues(table, agreed) || equalValues(table, crm)) return { choice: 'merge', value: crm };
    if (equalValues(crm, agreed)) return { choice: 'merge', value: table };
    const scope = conflictScope(key, field);
    const answer = this.#link.mirror.readDecisions().find((decision) => decision.scope === scope)?.choice;
    const typed = readTypedAnswer(answer);
    if (typed) return { choice: 'answer', value: typed.value };
    const side = readSideAnswer(answer);
    if (!side || !isForValues(side, crm, table)) return { choice: 'ask', value: crm };
    return { choice: 'answer', value: side.side === 'crm' ? crm : table };
  }

  async #carryOut({ agreed, answered, at, conflicts, journal, save }: ToyPlan): Promise<void> {
    const { mirror } = this.#link;
    mirror.transaction(() => {
      for (const item of save) mirror.saveOutboxItem(item);
      for (const { fields, key } of agreed) {
        const before = mirror.findAgreement(key) ?? emptyAgreement(key, at);
        mirror.saveAgreement({ ...before, fields: { ...before.fields, ...fields }, changedAt: at });
      }
      for (const scope of answered) mirror.dropDecision(scope);
      mirror.appendJournal(journal);
    });
    for (const { fields, key } of [...agreed, ...save])
      this.rows.set(key.id, { ...this.rows.get(key.id), ...fields });
    const keys = save.map(({ key }) => key);
    await wake(this.#link, keys);
    this.tally.tableSteps += agreed.length;
    const questions = conflicts.map(({ agreed: base, crm, field, key, table }) => {
      const scope = conflictScope(key, field);
      const about = { field, crm: String(crm), table: String(table), agreed: String(base) };
      return { scope, what: 'Both changed it.', about, answers: answersTo(scope) };
    });
    const hasWork = agreed.length + save.length > 0;
    const work = { hasWork, hasActed: hasWork, toSide: agreed.length > 0 ? 'written' : 'nothing' } as const;
    const none = { brakes: [], holds: [], refusals: [], restlessRows: 0, unapplied: 0 };
    this.report = { at, ...none, conflicts, questions, ...work };
  }
}
