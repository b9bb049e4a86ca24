import { type Cascades, countByKind, createCascades, relateRecords } from '../../core/cascade.ts';
import type { Catalog } from '../../core/fields/catalog.ts';
import { splitContactId } from '../../core/fields/contact-id.ts';
import {
  type Entity,
  entities,
  isClaimToken,
  parseRecordKey,
  type RecordKey,
  recordKeyText,
} from '../../core/record.ts';
import type { Slices } from '../../core/slices.ts';
import { isOnItsWay, type OutboxItem, type StoredRecord } from '../../core/state.ts';
import type { TakenEdit } from '../../core/taken-edit.ts';
import { isAboutAny, scopeName } from '../../core/waiting/scopes.ts';
import type { Brake, Conflict, Hold, Refusal } from '../../core/waiting/waiting.ts';
import type { EditTerms, WarehouseLink } from '../link.ts';
import { carryOut, findEdited } from './carry-out.ts';
import { type EditContext, type EditVerdict, nothingToDo } from './context.ts';
import { decideEdits } from './decide.ts';
import { isNoted } from './landing.ts';
import { EditStops } from './stopping.ts';
import { sliceMax, Turns } from './turns.ts';

/** What deciding about all open edits came to. */
export interface DecidedAll {
  readonly brakes: readonly Brake[];
  readonly conflicts: readonly Conflict[];
  readonly holds: readonly Hold[];
  readonly refusals: readonly Refusal[];
}

export const nothingDecided: DecidedAll = { brakes: [], conflicts: [], holds: [], refusals: [] };

/** What a decision may go by that has no record's name: which lists were read, and all records. */
const theLists = 'lists';
const allRecords = 'records';

/** So many names are looked at before anything else gets its turn. */
const namesMax = 2_500;

/**
 * Decides about records with open edits, and keeps all that follows. A record is decided about again as soon as something changes that its last
 * decision went by, and no other one is looked at. After a start, after a failure and with another catalog all of them are.
 */
export class EditDesk {
  decided: DecidedAll = nothingDecided;
  readonly #link: WarehouseLink;
  readonly #stops: EditStops;
  readonly #policy: EditTerms;
  /** Until a decision is over it is not known what it left undone. */
  #isAnew = true;
  #catalog: Catalog | undefined;
  /** The names of what changed. */
  #changed = new Set<string>();
  /** Records that changed and have no open edits. */
  #over = new Set<string>();
  /** The records to be decided about, by their kinds; those that are still to be created are apart. */
  readonly #due = new Map<string, Map<string, RecordKey>>();
  /** By what decisions went by beside the record itself: the records. */
  readonly #asked = new Map<string, Set<string>>();
  /** Of records about which there is something to say. */
  readonly #verdicts = new Map<string, EditVerdict>();
  /** The steps that the queue was woken for. */
  readonly #woken = new Map<string, OutboxItem>();
  #stopped: ReadonlySet<Entity> = new Set();
  #cascades: { readonly records: readonly StoredRecord[]; readonly found: Cascades } | undefined;

  constructor(link: WarehouseLink, terms: EditTerms) {
    this.#link = link;
    this.#policy = terms;
    this.#stops = new EditStops(link, terms);
    link.mirror.watch((name) => this.#changed.add(name));
  }

  /** Whether no step of the kind may be sent. While it is being decided, those that were stopped before are stopped as well. */
  isStopped = (entity: Entity): boolean => this.#stopped.has(entity);

  /** Returns the records with new steps that may be sent. Of the kinds in `behind` the mirror may not know all edits. */
  *decide(catalog: Catalog, behind: ReadonlySet<Entity> = new Set()): Slices<readonly RecordKey[]> {
    const isAnew = this.#isAnew || catalog !== this.#catalog;
    this.#isAnew = true;
    if (isAnew) yield* this.#beginAnew(catalog);
    this.#noteAsked();
    yield* this.#takeChanges();
    const before = this.#stopped;
    const brakes = this.#stops.find(this.#readAnswers().choice);
    const stopped = new Set([...brakes.map(({ entity }) => entity), ...behind]);
    this.#stopped = before.union(stopped).union(new Set(this.#stops.answered));
    const turns = new Turns(this.#link.mirror);
    const run = this.#link.newWord();
    yield* this.#stops.carryOut(turns);
    yield* this.#takeChanges();
    const toWake = this.#findFreed(before.difference(stopped));
    // What a create has made is a record like any other from then on.
    for (const isToken of [true, false])
      for (const entity of entities.filter((each) => !stopped.has(each)))
        yield* this.#decideDue(turns, dueName(entity, isToken), run, toWake);
    this.#forgetAnswers(isAnew);
    const isSame = turns.count === 0 && brakes === this.decided.brakes;
    if (!isSame || before.symmetricDifference(stopped).size > 0) this.decided = this.#sum(brakes, stopped);
    this.#stopped = stopped;
    this.#isAnew = false;
    return [...toWake.values()];
  }

  *#beginAnew(catalog: Catalog): Slices<void> {
    this.#catalog = catalog;
    this.#stops.beginAnew();
    this.#changed.clear();
    for (const known of [this.#due, this.#asked, this.#verdicts, this.#woken]) known.clear();
    this.#cascades = undefined;
    yield* this.#takeAll(this.#link.mirror.edits.readOpen(), namesOf);
  }

  /** Of what has no record's name it is found out once for each decision whether it may have changed. */
  #noteAsked(): void {
    if (this.#asked.has(theLists)) this.#changed.add(theLists);
    if (!this.#asked.has(allRecords) || this.#link.mirror.readRecords() === this.#cascades?.records) return;
    this.#changed.add(allRecords);
    this.#cascades = undefined;
  }

  /** Finds what is to be decided about by what changed. */
  *#takeChanges(): Slices<void> {
    const names = [...this.#changed];
    this.#changed.clear();
    yield* this.#takeAll(names, (name) => [name]);
  }

  *#takeAll<Item>(items: readonly Item[], find: (item: Item) => Iterable<string>): Slices<void> {
    for (let start = 0; start < items.length; start += namesMax) {
      if (start > 0) yield;
      for (const item of items.slice(start, start + namesMax))
        for (const name of find(item)) this.#takeChange(name);
    }
  }

  #takeChange(name: string): void {
    this.#stops.noteChanged(name);
    for (const text of this.#asked.get(name) ?? []) this.#makeDue(text);
    this.#asked.delete(name);
    this.#makeDue(name);
  }

  #makeDue(text: string): void {
    const key = parseRecordKey(text);
    if (!key) return;
    const isOver = this.#link.mirror.edits.findOpen(key).length === 0;
    if (isOver) this.#over.add(text);
    if (isOver && !this.#verdicts.has(text)) return;
    const name = dueName(key.entity, isClaimToken(key.id));
    const due = this.#due.get(name) ?? new Map();
    this.#due.set(name, due.set(text, key));
  }

  /** Decides about those that are due, each once, also if it becomes due by that. */
  *#decideDue(turns: Turns, name: string, run: string, toWake: Map<string, RecordKey>): Slices<void> {
    const done = new Set<string>();
    for (;;) {
      const due = this.#due.get(name) ?? new Map<string, RecordKey>();
      const some = Iterator.from(due)
        .filter(([text]) => !done.has(text))
        .take(sliceMax)
        .toArray();
      if (some.length === 0) return;
      yield* turns.take(() => {
        const answers = this.#readAnswers();
        for (const [, key] of some) this.#decideOne(key, { ...answers, run });
      });
      for (const [text, key] of some) {
        due.delete(text);
        done.add(text);
        if (this.#noteStep(key, text)) toWake.set(text, key);
      }
      yield* this.#takeChanges();
    }
  }

  #decideOne(key: RecordKey, ground: Pick<EditContext, 'answeredAt' | 'choice' | 'run'>): void {
    const text = recordKeyText(key);
    const subject = findEdited(this.#link, key);
    const verdict = subject ? decideEdits(this.#contextOf(text, ground), subject) : nothingToDo;
    const { conflicts = [], holds = [], refusals = [] } = verdict;
    // What is asked keeps its place.
    if (conflicts.length + holds.length + refusals.length === 0) this.#verdicts.delete(text);
    else this.#verdicts.set(text, verdict);
    if (subject) carryOut(this.#link, subject, verdict);
  }

  /** What a record is decided by, which notes what the decision went by beside the record itself. */
  #contextOf(text: string, ground: Pick<EditContext, 'answeredAt' | 'choice' | 'run'>): EditContext {
    const { clock, mirror } = this.#link;
    const note = (name: string) => this.#asked.set(name, (this.#asked.get(name) ?? new Set()).add(text));
    return {
      ...ground,
      now: clock.now(),
      catalog: this.#catalog!,
      policy: this.#policy,
      findInsert(entity, row) {
        note(recordKeyText({ entity, id: row }));
        return mirror.edits.findInsert(entity, row);
      },
      isRead: (key) => {
        note(theLists);
        return isRead(mirror, key);
      },
      companyOf: (key) => {
        note(allRecords);
        const records = mirror.readRecords();
        this.#cascades ??= { records, found: createCascades(relateRecords(records), []) };
        return countByKind(this.#cascades.found.goingWith(key));
      },
    };
  }

  #readAnswers(): Pick<EditContext, 'answeredAt' | 'choice'> {
    const answers = new Map(this.#link.mirror.readDecisions().map((decision) => [decision.scope, decision]));
    return {
      choice: (scope) => answers.get(scope)?.choice,
      answeredAt: (scope) => answers.get(scope)?.at,
    };
  }

  /** Returns whether the record has a step that may be sent, and the queue was not woken for it. */
  #noteStep(key: RecordKey, text: string): boolean {
    const before = this.#woken.get(text);
    const item = this.#link.mirror.findOutboxItem(key);
    const isSendable = item && isOnItsWay(item) && isNoted(this.#link.mirror, item);
    if (isSendable) this.#woken.set(text, item);
    else this.#woken.delete(text);
    return isSendable === true && item !== before;
  }

  /** The steps of kinds that were stopped and are no longer: these wait although nothing changed about them. */
  #findFreed(freed: ReadonlySet<Entity>): Map<string, RecordKey> {
    const { mirror } = this.#link;
    if (freed.size === 0) return new Map();
    const steps = mirror.readOutbox().filter((item) => freed.has(item.key.entity) && isOnItsWay(item));
    return new Map(steps.filter((item) => isNoted(mirror, item)).map(({ key }) => [recordKeyText(key), key]));
  }

  /** Forgets answers about records of which no edit is open: they are not meant for the next one. */
  #forgetAnswers(isAnew: boolean): void {
    const { edits, dropDecision, readDecisions, transaction } = this.#link.mirror;
    const isOver = (scope: string) => {
      const name = scopeName(scope);
      const key = parseRecordKey(name);
      if (!isAnew && !this.#over.has(name)) return false;
      return isAboutAny(scope, new Set([name])) && (!key || edits.findOpen(key).length === 0);
    };
    const scopes = readDecisions().flatMap(({ scope }) => (isOver(scope) ? [scope] : []));
    this.#over.clear();
    if (scopes.length > 0) transaction(() => scopes.forEach(dropDecision));
  }

  #sum(brakes: readonly Brake[], stopped: ReadonlySet<Entity>): DecidedAll {
    const verdicts = [...this.#verdicts].flatMap(([text, verdict]) => {
      const entity = parseRecordKey(text)?.entity;
      return entity && stopped.has(entity) ? [] : [verdict];
    });
    return {
      brakes,
      conflicts: verdicts.flatMap(({ conflicts = [] }) => conflicts),
      holds: verdicts.flatMap(({ holds = [] }) => holds),
      refusals: verdicts.flatMap(({ refusals = [] }) => refusals),
    };
  }
}

/** What an edit is found by: its record, and its row, which mostly have the same name. */
const namesOf = ({ key, row }: TakenEdit): ReadonlySet<string> =>
  new Set([recordKeyText(key), recordKeyText({ entity: key.entity, id: row })]);

const dueName = (entity: Entity, isToken: boolean): string => `${entity} ${isToken ? 'new' : 'known'}`;

/** Whether a record of the kind that is not known is not in the CRM. Contacts are read lead by lead. */
function isRead(mirror: WarehouseLink['mirror'], { entity, id }: RecordKey): boolean {
  if (entity !== 'contact')
    return mirror.readSweeps().some((sweep) => sweep.entity === entity && sweep.isComplete);
  const { leadId } = splitContactId(id);
  return mirror.readContactReads().some((read) => read.leadId === leadId);
}
