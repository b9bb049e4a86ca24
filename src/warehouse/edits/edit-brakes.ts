import { type Entity, recordKeyText } from '../../core/record.ts';
import type { TakenEdit } from '../../core/taken-edit.ts';
import { readBrakeAnswer } from '../../core/waiting/answer.ts';
import { type BrakeLimits, brakeOf, brakeScope } from '../../core/waiting/brakes.ts';
import type { Brake, StoppedChange } from '../../core/waiting/waiting.ts';

export type EditLimits = Pick<BrakeLimits, 'changesMin' | 'changesShare' | 'deletesMin' | 'deletesShare'>;

const kinds = ['edited', 'deleted', 'unlogged'] as const;
type Kind = (typeof kinds)[number];

/** What a user answered to a brake. */
export interface BrakeAnswer {
  readonly scope: string;
  /** The answer as it is kept. */
  readonly choice: string;
  /** What it comes to for the edits: they are let through, or taken back. */
  readonly answer: 'approve' | 'revert';
  /** How many rows the user had seen. */
  readonly seen: number;
  /** None where the answer is for others, or the brake is over. */
  readonly edits: readonly TakenEdit[];
}

/** What the brakes for edits of one table come to. */
export interface BrakedEdits {
  readonly brakes: readonly Brake[];
  /** What each edit says that a brake stops. It does not say how many there are: another one would have all of them noted anew. */
  readonly note?: string | undefined;
  readonly answered: readonly BrakeAnswer[];
}

/** What a table has, and what was answered about it. */
export interface BrakeGround {
  readonly entity: Entity;
  /** How many the table has. */
  readonly rows: number;
  readonly limits: EditLimits;
  choice(scope: string): string | undefined;
}

/**
 * The brake that counts an edit, by what was done last to its row: `undefined` where a user let it through, and of a row that is taken back nothing
 * is sent.
 */
function countedAs(
  { isMeant, isUnlogged }: TakenEdit,
  last: TakenEdit['kind'] | undefined,
): Kind | undefined {
  if (isMeant || last === 'revert') return undefined;
  if (isUnlogged) return 'unlogged';
  // A row that was inserted again is there.
  return last === 'delete' ? 'deleted' : 'edited';
}

/** How many rows may be changed at once. */
const allowedOf = (kind: Kind, { limits, rows }: BrakeGround): number =>
  ({
    edited: Math.max(limits.changesMin, Math.floor(rows * limits.changesShare)),
    deleted: Math.max(limits.deletesMin, Math.floor(rows * limits.deletesShare)),
    unlogged: 0,
  })[kind];

/** How many rows of each table each brake counts: as long as these are few, no edit has to be looked at for that. */
export class BrakeCounts {
  readonly #kindsOf = new Map<string, ReadonlySet<Kind>>();
  readonly #counts = new Map<string, number>();

  /** Counts a row anew, by its open edits. Returns whether it has any, or had. */
  recount(entity: Entity, row: string, edits: readonly TakenEdit[]): boolean {
    const name = recordKeyText({ entity, id: row });
    const last = edits.at(-1)?.kind;
    const before = this.#kindsOf.get(name);
    const now = new Set(edits.flatMap((edit) => countedAs(edit, last) ?? []));
    for (const kind of before ?? []) this.#add(entity, kind, -1);
    for (const kind of now) this.#add(entity, kind, 1);
    if (edits.length === 0) this.#kindsOf.delete(name);
    else this.#kindsOf.set(name, now);
    return before !== undefined || edits.length > 0;
  }

  /** Whether no brake has anything to say, nor was answered. */
  isQuiet(ground: BrakeGround): boolean {
    const { choice, entity } = ground;
    return kinds.every(
      (kind) =>
        (this.#counts.get(`${entity} ${kind}`) ?? 0) <= allowedOf(kind, ground) &&
        choice(brakeScope(entity, kind)) === undefined,
    );
  }

  #add(entity: Entity, kind: Kind, count: number): void {
    const name = `${entity} ${kind}`;
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + count);
  }
}

/**
 * The brakes of a table for open edits that no user let through: as many rows at once may be a mistake. An approval is for as many as were
 * shown, and for those that may be edited anyway.
 */
export function brakeEdits(ground: BrakeGround, edits: readonly TakenEdit[]): BrakedEdits {
  const { entity } = ground;
  const lasts = new Map(edits.map(({ kind, row }) => [row, kind]));
  const byKind = Map.groupBy(edits, (edit) => countedAs(edit, lasts.get(edit.row)));
  const brakes: Brake[] = [];
  let note: string | undefined;
  const answered: BrakeAnswer[] = [];
  for (const kind of kinds) {
    const own = byKind.get(kind) ?? [];
    const byRow = Map.groupBy(own, ({ row }) => row);
    const allowed = allowedOf(kind, ground);
    const scope = brakeScope(entity, kind);
    const given = ground.choice(scope);
    const { answer, seen: shown = '0' } = readBrakeAnswer(given ?? '');
    const seen = Number.parseInt(shown, 10);
    const isOver = byRow.size > allowed;
    const isApproved = isOver && answer === 'approve' && byRow.size <= seen + allowed;
    const isReverted = answer === 'revert';
    if (given !== undefined)
      answered.push({
        scope,
        choice: given,
        seen,
        answer: isReverted ? 'revert' : 'approve',
        edits: isReverted || isApproved ? own : [],
      });
    if (!isOver || isReverted || isApproved) continue;
    brakes.push(brakeFor(kind, ground, byRow));
    note ??= `${wordsOf[kind].note}. ${advice}`;
  }
  return { brakes, note, answered };
}

/** What users read of a brake, and of each row that it stops. */
const wordsOf: Readonly<
  Record<Kind, { words(count: number, rows: number): string; note: string; what: StoppedChange['what'] }>
> = {
  edited: {
    words: (count, rows) => `${count} of ${rows} rows were edited by SQL`,
    note: 'More rows were edited by SQL than may be at once',
    what: 'edited',
  },
  deleted: {
    words: (count, rows) => `${count} of ${rows + count} rows were deleted by SQL`,
    note: 'More rows were deleted by SQL than may be at once',
    what: 'row gone',
  },
  unlogged: {
    words: (count, rows) =>
      `What notes edits of the table was switched off for a time, and ${count} of its ${rows} rows differ from the CRM`,
    note: 'What notes edits of the table was switched off for a time, and rows differ from the CRM',
    what: 'differs',
  },
};

const advice = "Approve sends them to the CRM, Revert puts the CRM's values back.";

function brakeFor(kind: Kind, ground: BrakeGround, byRow: ReadonlyMap<string, unknown>): Brake {
  const { words, what } = wordsOf[kind];
  const allowed = allowedOf(kind, ground);
  const limit = allowed === 0 ? '' : `; ${allowed} may be at once`;
  const changes = [...byRow.keys()].map((id): StoppedChange => ({ id, what }));
  return brakeOf(ground.entity, kind, `${words(byRow.size, ground.rows)}${limit}. ${advice}`, changes);
}
