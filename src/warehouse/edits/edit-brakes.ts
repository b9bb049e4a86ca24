import type { Entity } from '../../core/record.ts';
import type { TakenEdit } from '../../core/taken-edit.ts';
import { readBrakeAnswer } from '../../core/waiting/answer.ts';
import { type BrakeLimits, brakeOf, brakeScope } from '../../core/waiting/brakes.ts';
import type { Brake, StoppedChange } from '../../core/waiting/waiting.ts';

export type EditLimits = Pick<BrakeLimits, 'changesMin' | 'changesShare' | 'deletesMin' | 'deletesShare'>;

/** What the brakes for edits of one table come to. */
export interface BrakedEdits {
  readonly brakes: readonly Brake[];
  /** Edits that a user let through. */
  readonly approved: readonly TakenEdit[];
  /** Edits that a user took back. */
  readonly revoked: readonly TakenEdit[];
  /** Scopes of answers that are carried out. */
  readonly spent: readonly string[];
}

interface Kind {
  readonly scope: 'edited' | 'deleted' | 'unlogged';
  readonly edits: readonly TakenEdit[];
  readonly allowed: number;
  words(rows: number): string;
  change(edit: TakenEdit): StoppedChange;
}

/**
 * The brakes of a table for open edits that no user let through: as many rows at once may be a mistake. `rows` is how many the table has. An
 * approval is for as many as were shown, and for those that may be edited anyway.
 */
export function brakeEdits(
  entity: Entity,
  edits: readonly TakenEdit[],
  rows: number,
  limits: EditLimits,
  choice: (scope: string) => string | undefined,
): BrakedEdits {
  const lasts = new Map(edits.map((edit) => [edit.row, edit]));
  // Of a row that is taken back nothing is sent.
  const fresh = edits.filter(({ isMeant, row }) => !isMeant && lasts.get(row)?.kind !== 'revert');
  // A row that was inserted again is there.
  const isDelete = ({ row }: TakenEdit) => lasts.get(row)?.kind === 'delete';
  const { logged = [], unlogged = [] } = Object.groupBy(fresh, ({ isUnlogged }) =>
    isUnlogged ? 'unlogged' : 'logged',
  );
  const kinds: readonly Kind[] = [
    {
      scope: 'edited',
      edits: logged.filter((edit) => !isDelete(edit)),
      allowed: Math.max(limits.changesMin, Math.floor(rows * limits.changesShare)),
      words: (count) => `${count} of ${rows} rows were edited by SQL`,
      change: ({ row }) => ({ id: row, what: 'edited' }),
    },
    {
      scope: 'deleted',
      edits: logged.filter(isDelete),
      allowed: Math.max(limits.deletesMin, Math.floor(rows * limits.deletesShare)),
      words: (count) => `${count} of ${rows + count} rows were deleted by SQL`,
      change: ({ row }) => ({ id: row, what: 'row gone' }),
    },
    {
      scope: 'unlogged',
      edits: unlogged,
      allowed: 0,
      words: (count) =>
        `What notes edits of the table was switched off for a time, and ${count} of its ${rows} rows differ from the CRM`,
      change: ({ row }) => ({ id: row, what: 'differs' }),
    },
  ];
  const brakes: Brake[] = [];
  const spent: string[] = [];
  const approved: TakenEdit[] = [];
  const revoked: TakenEdit[] = [];
  for (const kind of kinds) {
    const byRow = Map.groupBy(kind.edits, ({ row }) => row);
    const scope = brakeScope(entity, kind.scope);
    const given = choice(scope);
    const { answer, seen = '0' } = readBrakeAnswer(given ?? '');
    if (given !== undefined) spent.push(scope);
    if (answer === 'revert') revoked.push(...kind.edits);
    else if (byRow.size <= kind.allowed) continue;
    else if (answer === 'approve' && byRow.size <= Number.parseInt(seen, 10) + kind.allowed)
      approved.push(...kind.edits);
    else {
      const changes = [...byRow.values()].flatMap(([first]) => (first ? [kind.change(first)] : []));
      const limit = kind.allowed === 0 ? '' : `; ${kind.allowed} may be at once`;
      const reason = `${kind.words(byRow.size)}${limit}. Approve sends them to the CRM, Revert puts the CRM's values back.`;
      brakes.push(brakeOf(entity, kind.scope, reason, changes));
    }
  }
  return { brakes, approved, revoked, spent };
}
