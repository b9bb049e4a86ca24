import { journalEntry } from '../core/journal-entry.ts';
import type { Entity, RecordKey } from '../core/record.ts';
import type { StoredRecord } from '../core/state.ts';
import { equalValues, type Fields } from '../core/value.ts';
import { editedOf } from './edits/landing.ts';
import { keepUnlogged } from './edits/unlogged.ts';
import { warehouseFacts } from './facts.ts';
import type { WarehouseLink } from './link.ts';
import type { TableLayout, WarehouseLayout } from './port/layout.ts';
import type { ScannedRow } from './port/port.ts';
import { compareIds, fieldsOf, keyOf, rowIdOf, valuesOf } from './rows.ts';

/** What comparing all rows of a table with the records came to. All of it is written again. */
export interface TableAudit {
  readonly entity: Entity;
  readonly rows: number;
  /** Records without a row. */
  readonly missing: number;
  /** Rows without a record. */
  readonly extra: number;
  /** Rows with other values than the CRM has. */
  readonly different: number;
}

export interface AuditReport {
  /** When it began, epoch ms. */
  readonly at: number;
  readonly tables: readonly TableAudit[];
}

/** Lines of the journal that are kept in one transaction, and records that are looked at before others have their turn. */
const chunkMax = 500;

interface Drift {
  readonly key: RecordKey;
  /** What the CRM has and the row has otherwise. */
  readonly after: Fields;
  /** What the row has in its place. */
  readonly lost: Fields;
}

interface FoundDrift extends Drift {
  readonly kind: 'missing' | 'extra' | 'different';
}

/**
 * Compares every row with its record, without keeping more than one of them, and makes due again what differs. Both values are in the
 * journal then. What is due anyway is left alone: it is known to differ.
 */
export async function audit(
  link: WarehouseLink,
  { tables }: WarehouseLayout,
  takeEdits: () => Promise<void> = async () => undefined,
): Promise<AuditReport> {
  const { clock, log, mirror, newWord } = link;
  const at = clock.now();
  const occasion = { now: at, run: newWord() };
  const found: TableAudit[] = [];
  for (const table of tables) {
    const compared = await auditTable(link, table, takeEdits, (drifts) =>
      mirror.transaction(() => {
        const hasGap = mirror.readFact(warehouseFacts.gap(table.entity)) !== undefined;
        const healed = hasGap ? keepUnlogged(link, table, drifts) : drifts;
        mirror.feed.noteDue(healed.map(({ key }) => key));
        mirror.appendJournal(
          healed.map(({ after, key, lost }) =>
            journalEntry(occasion, key, { kind: 'repair', side: 'both', after, lost, cause: driftCause }),
          ),
        );
      }),
    );
    mirror.dropFact(warehouseFacts.gap(table.entity));
    found.push(compared);
    mirror.saveFact(warehouseFacts.rows(table.entity), compared.rows);
    log.info('warehouse.audited', { ...compared });
  }
  mirror.saveFact(warehouseFacts.auditedAt, at);
  return { at, tables: found };
}

const driftCause = 'the row in the warehouse differed from the CRM';

async function auditTable(
  { clock, database, mirror }: WarehouseLink,
  table: TableLayout,
  takeEdits: () => Promise<void>,
  keep: (drifts: readonly FoundDrift[]) => void,
): Promise<TableAudit> {
  const { entity } = table;
  const expected = mirror
    .readRecords(entity)
    .filter(({ presence }) => presence === 'present')
    .sort((one, other) => compareIds(rowIdOf(one.key), rowIdOf(other.key)));
  let counts = { rows: 0, missing: 0, extra: 0, different: 0 };
  let found: FoundDrift[] = [];
  const flush = async () => {
    if (found.length === 0) return;
    // What shows an edit was edited before it was read.
    await takeEdits();
    const isEdited = editedOf(mirror);
    const drifts = found.filter(({ key }) => !isEdited(key));
    found = [];
    for (const { kind } of drifts) counts = { ...counts, [kind]: counts[kind] + 1 };
    if (drifts.length > 0) keep(drifts);
  };
  const note = async (kind: FoundDrift['kind'], drift: Drift) => {
    if (mirror.feed.isDue(drift.key)) return;
    found.push({ ...drift, kind });
    if (found.length >= chunkMax) await flush();
  };
  let next = 0;
  let missed = 0;
  const noteMissing = async ({ fields, key }: StoredRecord) => {
    // While a table is filled most of them are, and no row comes for which others have their turn.
    if (!mirror.feed.isDue(key))
      await note('missing', { key, lost: {}, after: fieldsOf(valuesOf(fields, table), table) });
    missed += 1;
    if (missed % chunkMax === 0) await clock.sleep(0);
  };
  for await (const row of database.scan(table)) {
    counts.rows += 1;
    for (; next < expected.length && compareIds(rowIdOf(expected[next]!.key), row.id) < 0; next += 1)
      await noteMissing(expected[next]!);
    const record = expected[next];
    if (record && rowIdOf(record.key) === row.id) {
      next += 1;
      // What is known of it may have changed since the comparison began.
      const drift = driftOf(mirror.findRecord(record.key) ?? record, row, table);
      if (drift) await note('different', drift);
      continue;
    }
    const key = keyOf(entity, row.id, row.values);
    if (key && mirror.findRecord(key)?.presence !== 'present')
      await note('extra', { key, lost: fieldsOf(row.values, table), after: {} });
  }
  for (const record of expected.slice(next)) await noteMissing(record);
  await flush();
  return { entity, ...counts };
}

function driftOf({ fields, key }: StoredRecord, row: ScannedRow, table: TableLayout): Drift | undefined {
  const wanted = valuesOf(fields, table);
  const names = Object.keys(wanted).filter(
    (name) => !equalValues(wanted[name] ?? null, row.values[name] ?? null),
  );
  if (names.length === 0) return undefined;
  const pick = (values: Fields) => Object.fromEntries(names.map((name) => [name, values[name] ?? null]));
  return {
    key,
    lost: fieldsOf(pick(row.values), table),
    after: fieldsOf(pick(wanted), table),
  };
}
