import { type Entity, entities, parseRecordKey, recordKeyText } from '../../core/record.ts';
import type { Slices } from '../../core/slices.ts';
import type { Brake } from '../../core/waiting/waiting.ts';
import { warehouseFacts } from '../facts.ts';
import type { EditTerms, WarehouseLink } from '../link.ts';
import { revoke } from './carry-out.ts';
import { come } from './context.ts';
import { type BrakeAnswer, BrakeCounts, type BrakedEdits, brakeEdits } from './edit-brakes.ts';
import type { Turns } from './turns.ts';

const noBrakes: BrakedEdits = { brakes: [], answered: [] };

/** The brakes for edits of all tables. The edits of one are looked at only where one of its brakes has something to say, and something changed. */
export class EditStops {
  readonly #link: WarehouseLink;
  readonly #terms: EditTerms;
  #counts = new BrakeCounts();
  /** The tables whose open edits changed, or answers about them. */
  readonly #changed = new Set<Entity>();
  readonly #found = new Map<Entity, BrakedEdits & { readonly rows: number }>();
  /** The tables whose brakes were found anew, and are not carried out. */
  readonly #fresh = new Set<Entity>();
  #brakes: readonly Brake[] = [];

  constructor(link: WarehouseLink, terms: EditTerms) {
    this.#link = link;
    this.#terms = terms;
  }

  beginAnew(): void {
    this.#counts = new BrakeCounts();
    this.#found.clear();
    this.#brakes = [];
  }

  /** Notes that something changed: a row, or the answers about a table. */
  noteChanged(name: string): void {
    const table = entities.find((entity) => entity === name);
    if (table) this.#changed.add(table);
    const row = parseRecordKey(name);
    if (!row) return;
    const edits = this.#link.mirror.edits.findOpenOfRow(row.entity, row.id);
    if (this.#counts.recount(row.entity, row.id, edits)) this.#changed.add(row.entity);
  }

  /** Finds the brakes by what is open now; the same list where none of them changed. */
  find(choice: (scope: string) => string | undefined): readonly Brake[] {
    const before = this.#brakes;
    for (const entity of this.#link.entities) {
      const rows = this.#link.mirror.readFact(warehouseFacts.rows(entity)) ?? 0;
      const last = this.#found.get(entity);
      if (last?.rows === rows && !this.#changed.has(entity)) continue;
      const found = this.#findIn(entity, rows, choice);
      this.#found.set(entity, { ...found, rows });
      this.#fresh.add(entity);
      if (found.brakes.length > 0 || (last?.brakes.length ?? 0) > 0) this.#brakes = [];
    }
    this.#changed.clear();
    if (this.#brakes !== before) this.#brakes = [...this.#found.values()].flatMap(({ brakes }) => brakes);
    return this.#brakes;
  }

  /** The tables of which a brake was answered when brakes were last found. */
  get answered(): readonly Entity[] {
    return [...this.#found].filter(([, { answered }]) => answered.length > 0).map(([entity]) => entity);
  }

  /** Carries out what was answered, and notes with the edits that are stopped why they are. */
  *carryOut(turns: Turns): Slices<void> {
    for (const entity of this.#fresh) {
      const { answered = [], note } = this.#found.get(entity) ?? noBrakes;
      for (const answer of answered)
        yield* answer.answer === 'revert' ? this.#revoke(turns, answer) : this.#approve(turns, answer);
      if (note !== undefined) yield* this.#noteStopped(turns, entity, note);
    }
    this.#fresh.clear();
  }

  #findIn(entity: Entity, rows: number, choice: (scope: string) => string | undefined): BrakedEdits {
    const ground = { entity, rows, limits: this.#terms.limits, choice };
    if (this.#counts.isQuiet(ground)) return noBrakes;
    const open = this.#link.mirror.edits.readOpen();
    return brakeEdits(
      ground,
      open.filter(({ key }) => key.entity === entity),
    );
  }

  /** An approval is for as many rows less as were let through by it: in the middle of that the process may end, and new edits may come. */
  *#approve(turns: Turns, { choice, edits, scope, seen }: BrakeAnswer): Slices<void> {
    const { mirror } = this.#link;
    const rows = [...Map.groupBy(edits, ({ row }) => row).values()];
    if (rows.length === 0) return yield* turns.take(() => mirror.dropDecision(scope));
    let kept = choice;
    yield* turns.takeAll(rows, (some, rest) => {
      const given = mirror.readDecisions().find((each) => each.scope === scope);
      // A user has thought better of it.
      if (given?.choice !== kept) return;
      for (const edit of some.flat()) mirror.edits.save({ ...edit, isMeant: true });
      kept = `approve:${seen - rows.length + rest}`;
      if (rest === 0) mirror.dropDecision(scope);
      else mirror.saveDecision({ ...given, choice: kept });
    });
  }

  *#revoke(turns: Turns, { edits, scope }: BrakeAnswer): Slices<void> {
    const names = new Set(edits.map(({ editId }) => editId));
    const byKey = Map.groupBy(edits, ({ key }) => recordKeyText(key));
    const keys = [...byKey.values()].flatMap(([first]) => first?.key ?? []);
    yield* turns.takeAll(keys, (some) => {
      for (const key of some) revoke(this.#link, key, ({ editId }) => names.has(editId));
    });
    yield* turns.take(() => this.#link.mirror.dropDecision(scope));
  }

  *#noteStopped(turns: Turns, entity: Entity, note: string): Slices<void> {
    const { edits } = this.#link.mirror;
    const own = edits.readOpen().filter(({ isMeant, key }) => key.entity === entity && !isMeant);
    const fresh = own.filter((edit) => come(edit, 'held', note) !== edit);
    yield* turns.takeAll(fresh, (some) => {
      for (const edit of some) edits.save(come(edit, 'held', note));
    });
  }
}
