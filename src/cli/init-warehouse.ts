import { layoutNow } from '../app/warehouse-side.ts';
import { isSyncError } from '../core/errors.ts';
import type { WarehouseLink } from '../warehouse/link.ts';
import type { WarehouseLayout } from '../warehouse/port/layout.ts';
import type { LayOutConsent } from '../warehouse/port/port.ts';
import { forgetWritten } from '../warehouse/recover.ts';
import { print } from './command.ts';

/** Makes or completes the tables. Returns whether all of them can be written; else it says what an administrator has to do. */
export async function setUpWarehouse(
  link: WarehouseLink,
  { adopt = false }: LayOutConsent,
): Promise<boolean> {
  const { database, mirror } = link;
  const layout = layoutNow(link, mirror.readCatalog(), mirror);
  const { isReadOnly, keeper } = await database.meet();
  if (isReadOnly) {
    print(`${database.name} takes no writes. Name the primary in WAREHOUSE_URL.`);
    return false;
  }
  try {
    const faults = await database.layOut(layout, { adopt, mend: true });
    print(...faults.map(({ words }) => words));
    // What was missing is there again without its content: the daemon compares all rows when it starts.
    mirror.transaction(() => forgetWritten(mirror));
    if (faults.some(({ isHarmless }) => isHarmless !== true)) return false;
  } catch (error) {
    if (!isSyncError(error, 'WAREHOUSE_FORBIDDEN')) throw error;
    print(`${error.message} An administrator of the database has to run this:`, '');
    print(...database.printDdl(layout).split('\n'));
    return false;
  }
  print(`${database.name} ${keeper === 'none' ? 'has got' : 'has'} its tables: ${describeTables(layout)}.`);
  return true;
}

/** As people see them. */
const describeTables = ({ schema, tables }: WarehouseLayout): string =>
  tables.map(({ columns, entity }) => `${schema}.${entity} (${columns.length} fields)`).join(', ');
