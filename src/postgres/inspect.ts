import type { ClientBase } from 'pg';
import type { WarehouseLayout } from '../warehouse/port/layout.ts';
import type { LayoutFault } from '../warehouse/port/port.ts';
import { readFound } from './catalog.ts';
import { faultsOf } from './faults.ts';

/** What of the layout the database lacks, or has otherwise. Changes nothing. */
export async function inspect(client: ClientBase, layout: WarehouseLayout): Promise<readonly LayoutFault[]> {
  return faultsOf(layout, await readFound(client, layout.schema));
}
