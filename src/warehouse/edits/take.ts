import { claimToken, type Entity, isClaimToken, type RecordKey } from '../../core/record.ts';
import type { OutboxItem } from '../../core/state.ts';
import type { TakenEdit, TakenEdits } from '../../core/taken-edit.ts';
import { differingFields, type Fields, pickFields } from '../../core/value.ts';
import { fieldNameOf } from '../columns.ts';
import type { TableLayout } from '../port/layout.ts';
import type { EditedRow, RowValues, SqlEdit } from '../port/port.ts';
import { fieldsOf, keyOf, strayKey } from '../rows.ts';
import { doubt } from './doubt.ts';

/** What is taken over from the database. */
export interface Taken {
  /** In the order in which they were made. */
  readonly edits: readonly TakenEdit[];
  /** Records whose rows show what nobody meant, or lack what a new row does not have. */
  readonly due: readonly RecordKey[];
  /** Creates of which nobody knows whether they were sent. */
  readonly doubtful: readonly OutboxItem[];
}

export interface TakeOccasion {
  /** Epoch ms. */
  readonly now: number;
  readonly run: string;
  /** For how long an edit is surely known that was taken. */
  readonly rememberedMs: number;
  readonly edits: Pick<TakenEdits, 'find' | 'findInsert'>;
}

const nobody =
  'A trigger or a foreign key of the database did it, beside a change that came from the CRM: it is not sent.';

const tooOld =
  'It is older than the daemon remembers, as in a database that was restored from a backup: it may have been sent before, and is not sent again. Edit the row again if it is still meant.';

/** Takes over what is new in a row. What was taken before is told again where the database asks for it. */
export function takeRow(occasion: TakeOccasion, table: TableLayout, row: EditedRow): Taken {
  const edits: TakenEdit[] = [];
  const due: RecordKey[] = [];
  const doubtful: OutboxItem[] = [];
  /** The inserts of this very row that are new as well. */
  let inserted: RecordKey | undefined;
  for (const edit of asMade(row.edits)) {
    const known = occasion.edits.find(edit.editId);
    if (known) {
      if (edit.state === 'new' || edit.state !== known.state) edits.push({ ...known, isTold: false });
      if (known.kind === 'insert') inserted = known.key;
      continue;
    }
    const isReplaced = edit.kind === 'insert' && (inserted !== undefined || isOfCrm(table.entity, row));
    const key = inserted ?? keyOfEdit(occasion, table, row, edit, isReplaced);
    if (!key) continue;
    const taken = takenOf(occasion, table, row, edit, key);
    if (edit.state === 'side_effect') {
      edits.push({ ...taken, state: 'void', note: nobody });
      due.push(edit.kind === 'insert' && !isReplaced ? strayKey(table.entity, row.id) : key);
      continue;
    }
    const isTooOld = edit.state === 'new' && edit.ageMs > occasion.rememberedMs;
    if (isTooOld && (isReplaced || edit.kind !== 'insert')) {
      edits.push({ ...taken, state: 'void', note: tooOld });
      if (!isClaimToken(key.id)) due.push(key);
      continue;
    }
    if (isReplaced) {
      edits.push(replace(edits, taken));
      if (!isClaimToken(key.id)) due.push(key);
      continue;
    }
    edits.push(taken);
    if (edit.kind !== 'insert') continue;
    inserted = key;
    if (edit.state !== 'new' || isTooOld) doubtful.push(doubt(occasion, taken));
  }
  return { edits, due, doubtful };
}

/** In the order in which they were made: what a trigger of a user changed in a new row is noted before the statement that inserted it. */
function asMade(edits: readonly SqlEdit[]): readonly SqlEdit[] {
  const made: SqlEdit[] = [];
  for (const edit of edits) {
    const place = made.findLastIndex(({ kind }) => kind !== 'update') + 1;
    made.splice(edit.kind === 'insert' ? place : made.length, 0, edit);
  }
  return made;
}

/** A row whose id the CRM has given. What the database numbers itself is below 0; a contact of the CRM was deleted before it is inserted. */
const isOfCrm = (entity: Entity, { id, edits }: EditedRow): boolean =>
  entity === 'contact'
    ? edits.find(({ kind }) => kind === 'insert' || kind === 'delete')?.kind === 'delete'
    : !id.startsWith('-');

function keyOfEdit(
  { edits }: TakeOccasion,
  table: TableLayout,
  { edits: all, id, values = {} }: EditedRow,
  edit: SqlEdit,
  isReplaced: boolean,
): RecordKey | undefined {
  const { entity } = table;
  if (edit.kind === 'insert' && !isReplaced) return { entity, id: claimToken(edit.editId) };
  const insert = edits.findInsert(entity, id);
  // The lead of a contact is in its row, or in another edit of it.
  const shown = Object.assign({}, values, ...all.flatMap(({ after, before }) => [after, before]));
  return insert?.key ?? keyOf(entity, id, shown);
}

/** A column that is not known is kept under the name that its field would have: the CRM may list it again. */
function editedFields(values: RowValues, table: TableLayout): Fields {
  const known = new Set(table.columns.map(({ name }) => name));
  const rest = Object.entries(values).filter(([name]) => !known.has(name));
  return {
    ...fieldsOf(values, table),
    ...Object.fromEntries(rest.map(([name, value]) => [fieldNameOf(name), value])),
  };
}

const takenOf = (
  { now }: TakeOccasion,
  table: TableLayout,
  { id }: EditedRow,
  { after, before, by, editId, kind }: SqlEdit,
  key: RecordKey,
): TakenEdit => ({
  editId,
  key,
  row: id,
  kind,
  before: editedFields(before, table),
  after: editedFields(after, table),
  ended: {},
  by,
  at: now,
  state: 'taken',
  note: '',
  isMeant: false,
  isTold: false,
});

/**
 * A row that was deleted and inserted again with its id, as some programs save it, was edited. The delete stays open for as long, because it alone
 * knows what was there before; without it the insert was over.
 */
function replace(edits: readonly TakenEdit[], inserted: TakenEdit): TakenEdit {
  const deleted = edits.findLast(({ kind }) => kind === 'delete');
  const names = deleted ? differingFields(inserted.after, deleted.before) : [];
  return {
    ...inserted,
    kind: 'update',
    before: pickFields(deleted?.before ?? {}, names),
    after: pickFields(inserted.after, names),
  };
}
