import { syncSchemaOf } from '../../warehouse/port/layout.ts';
import type { Found, FoundRelation } from './found.ts';
import { guardBody, guardName, guardSearchPath, guardType } from './guards.ts';

/** Whether the function is there, and is the one that was made for this login. */
export const isGuardFunctionAsMade = (schema: string, found: Found): boolean =>
  found.functions.some(
    ({ schema: of, name, body, settings }) =>
      of === syncSchemaOf(schema) &&
      name === guardName &&
      body === guardBody(found.roleName) &&
      settings?.length === 1 &&
      settings[0] === guardSearchPath,
  );

/** Whether the table has the trigger, and it is switched on whatever the session says. */
export const isGuardTriggerAsMade = (schema: string, { triggers }: FoundRelation): boolean =>
  triggers.some(
    (trigger) =>
      trigger.name === guardName &&
      trigger.enabled === 'A' &&
      trigger.type === guardType &&
      trigger.isPlain &&
      trigger.schema === syncSchemaOf(schema) &&
      trigger.function === guardName,
  );
