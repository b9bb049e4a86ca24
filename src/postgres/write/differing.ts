import type { RowId } from '../../warehouse/port/port.ts';
import { isRowRefusal } from '../errors.ts';
import { isolate } from './isolate.ts';
import { rowSqlOf } from './row-sql.ts';
import type { TableStage } from './table-stage.ts';

/** Ids of rows that are not there, or not as they are sent; what cannot even be compared is among them. */
export async function findDiffering(
  { session, names, table }: TableStage,
  sent: readonly { readonly id: RowId; readonly json: string }[],
): Promise<ReadonlySet<RowId>> {
  const sql = rowSqlOf(names, table);
  const strange: RowId[] = [];
  const found = await isolate(session, sent, {
    async apply(part) {
      const rows = await session.run(sql.findDiffering, [`[${part.map(({ json }) => json).join(',')}]`]);
      return rows.map(({ id }) => id ?? '');
    },
    isRefusal: (error) => isRowRefusal(error, names.syncSchema),
    refuse: ({ id }) => strange.push(id),
    leave: (part) => strange.push(...part.map(({ id }) => id)),
  });
  return new Set([...found.flat(), ...strange]);
}
