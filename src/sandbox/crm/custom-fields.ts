import type { CustomFieldDefinition } from '../../crm/contract.ts';
import type { CrmChoices } from './choices.ts';
import { readCustomFieldDate } from './dates.ts';
import type { CustomFieldValue, CustomFieldValues, Member } from './records.ts';
import { refuseField } from './refusal.ts';

/** What written custom field values are read against. */
export interface CustomFieldRules {
  readonly definitions: readonly CustomFieldDefinition[];
  readonly members: readonly Member[];
  readonly choices: Pick<CrmChoices, 'clearedCustomField' | 'ambiguousSlashDate'>;
}

const numeric = /^[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?$/i;
const booleans = new Map<unknown, boolean>([
  [true, true],
  [false, false],
  ['yes', true],
  ['no', false],
  [1, true],
  [0, false],
  ['1', true],
  ['0', false],
]);

/**
 * The lead's values after `written` is stored: named fields change, the others stay, `null` clears.
 * @throws Refusal 400 for a key without definition or a value its type does not accept.
 */
export function writeCustomFields(
  current: CustomFieldValues,
  written: Readonly<Record<string, unknown>>,
  rules: CustomFieldRules,
): CustomFieldValues {
  const values: Record<string, CustomFieldValue | null> = { ...current };
  for (const [key, value] of Object.entries(written)) {
    const definition = rules.definitions.find((candidate) => candidate.field_key === key);
    if (!definition) throw refuseField(`custom_fields.${key}`, 'Unknown field_key');
    if (value !== null) values[key] = readValue(definition, value, rules);
    else if (rules.choices.clearedCustomField === 'null') values[key] = null;
    else delete values[key];
  }
  return values;
}

/** Specification, "Custom field definition", the table of accepted input by type. */
function readValue(
  definition: CustomFieldDefinition,
  value: unknown,
  rules: CustomFieldRules,
): CustomFieldValue {
  const field = `custom_fields.${definition.field_key}`;
  switch (definition.type) {
    case 'number':
      return readNumber(field, value);
    case 'boolean':
      return readBoolean(field, value);
    case 'date':
      return readCustomFieldDate(field, readText(field, value), rules.choices.ambiguousSlashDate);
    case 'select':
      return readOption(field, value, definition);
    case 'multi-select':
      return readList(field, value).map((element) => readOption(field, element, definition));
    case 'user-select':
      return readMember(field, value, rules.members);
    case 'user-multi-select':
      return readList(field, value).map((element) => readMember(field, element, rules.members));
    default:
      return readText(field, value);
  }
}

function readText(field: string, value: unknown): string {
  if (typeof value !== 'string') throw refuseField(field, 'Expected text');
  return value;
}

function readNumber(field: string, value: unknown): number {
  const number = typeof value === 'string' && numeric.test(value.trim()) ? Number(value) : value;
  if (typeof number !== 'number' || !Number.isFinite(number)) throw refuseField(field, 'Expected a number');
  return number;
}

function readBoolean(field: string, value: unknown): boolean {
  const boolean = booleans.get(typeof value === 'string' ? value.toLowerCase() : value);
  if (boolean === undefined) throw refuseField(field, 'Expected true or false, yes or no, 1 or 0');
  return boolean;
}

function readList(field: string, value: unknown): unknown[] {
  if (!Array.isArray(value)) throw refuseField(field, 'Expected a list');
  return value;
}

function readOption(field: string, value: unknown, definition: CustomFieldDefinition): string {
  const name = readText(field, value).toLowerCase();
  const option = definition.options?.find((candidate) => candidate.name.toLowerCase() === name);
  if (!option) throw refuseField(field, `Unknown option "${value}"`);
  return option.name;
}

function readMember(field: string, value: unknown, members: readonly Member[]): string {
  const id = typeof value === 'number' ? String(value) : readText(field, value);
  if (!members.some((member) => member.id === id)) throw refuseField(field, `Unknown user id "${id}"`);
  return id;
}
