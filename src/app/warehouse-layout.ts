import { isSyncError, SyncError } from '../core/errors.ts';
import { openContext } from './doctor/context.ts';
import { readCatalogNow } from './doctor/crm.ts';
import { databaseOf } from './settings/warehouse.ts';
import type { Settings } from './settings.ts';
import { layoutNow, termsOf } from './warehouse-side.ts';

/**
 * The tables as the CRM wants them now, with the SQL that makes them; also beside a running daemon. Where the CRM does not answer, they are
 * as the daemon last read them. Fails with CONFIG_INVALID where the settings name no database.
 */
export async function readWarehouseLayout(settings: Settings) {
  const { warehouse } = settings;
  const { close, context } = openContext(settings);
  try {
    const { crm, database, state } = context;
    if (!warehouse || !database)
      throw new SyncError(
        'CONFIG_INVALID',
        'There is no database: name one in warehouse.url (WAREHOUSE_URL).',
      );
    const mirror = state.kind === 'open' ? state.mirror : undefined;
    const catalog = await readCatalogNow(crm).catch((error: unknown) => {
      const known = mirror?.readCatalog();
      if (known && isSyncError(error, 'CRM_UNREACHABLE')) return known;
      throw error;
    });
    const layout = layoutNow(termsOf(warehouse), catalog, mirror);
    return { layout, ddl: database.printDdl(layout), database: databaseOf(warehouse) };
  } finally {
    await close();
  }
}
