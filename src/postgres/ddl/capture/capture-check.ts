import { syncSchemaOf, type TableLayout, type WarehouseLayout } from '../../../warehouse/port/layout.ts';
import type { Found, FoundRelation } from '../found.ts';
import { guardName } from '../guards.ts';
import { captureBody, captureNameOf, captureSettings, captureTriggers } from './capture.ts';

/** Whether the function is there, and is the one that was made for this layout and login. */
export const isCaptureFunctionAsMade = (layout: WarehouseLayout, table: TableLayout, found: Found): boolean =>
  found.functions.some(
    ({ schema, name, body, settings, isDefiner }) =>
      schema === syncSchemaOf(layout.schema) &&
      name === captureNameOf(table) &&
      body === captureBody(layout, table, found.roleName) &&
      isDefiner &&
      settings?.join() === captureSettings.join(),
  );

/** Whether the table has all triggers of ours, switched on whatever the session says, and no guard in their way. */
export const areCaptureTriggersAsMade = (
  schema: string,
  table: TableLayout,
  { triggers }: FoundRelation,
): boolean =>
  triggers.every(({ name }) => name !== guardName) &&
  captureTriggers.every((wanted) =>
    triggers.some(
      (trigger) =>
        trigger.name === wanted.name &&
        trigger.enabled === 'A' &&
        trigger.type === wanted.type &&
        trigger.isPlain &&
        trigger.oldTable === wanted.oldTable &&
        trigger.newTable === wanted.newTable &&
        trigger.schema === syncSchemaOf(schema) &&
        trigger.function === captureNameOf(table),
    ),
  );

export const hasCaptureTriggers = ({ triggers }: FoundRelation): boolean =>
  triggers.some(({ name }) => captureTriggers.some((own) => own.name === name));
