import { escapeIdentifier, escapeLiteral } from 'pg';
import type { ColumnEditing, ColumnLayout, ColumnType } from '../../../warehouse/port/layout.ts';
import { qualified } from '../quote.ts';

/** A value that the CRM would refuse: a condition on the row `n`, and the sentence about it as an expression of SQL. */
export interface Check {
  readonly isFault: string;
  readonly words: string;
}

/** What keeps a value of a column that people may write from being sent, the first that holds counts. */
export function checksOf(schema: string, { editing, name, type }: ColumnLayout): readonly Check[] {
  if (!editing || editing.isReadOnly) return [];
  const value = `n.${escapeIdentifier(name)}`;
  return [
    ...emptyChecks(name, type, value, editing),
    ...rangeChecks(name, type, value, editing),
    ...choiceChecks(schema, name, type, value, editing),
  ];
}

const said = (words: string): string => escapeLiteral(words);

function emptyChecks(
  name: string,
  type: ColumnType,
  value: string,
  { isKept, isRequired }: ColumnEditing,
): Check[] {
  if (!isKept && !isRequired) return [];
  const isBlank = isRequired && type === 'text' ? ` OR ${value} !~ '[^[:space:]]'` : '';
  return [{ isFault: `${value} IS NULL${isBlank}`, words: said(`${name} can not be empty.`) }];
}

/** A year of four digits is all that the CRM has. */
const daysMax = `'0001-01-01' AND '9999-12-31'`;

function rangeChecks(
  name: string,
  type: ColumnType,
  value: string,
  { lengthMax, max, min }: ColumnEditing,
): Check[] {
  const checks: Check[] = [];
  if (lengthMax !== undefined)
    checks.push({
      isFault: `char_length(${value}) > ${lengthMax}`,
      words: `format(${said(`${name.replaceAll('%', '%%')} has %s characters; the CRM takes at most ${lengthMax}.`)}, char_length(${value}))`,
    });
  if (type === 'numeric')
    checks.push({
      isFault: `${value}::text IN ('NaN', 'Infinity', '-Infinity')`,
      words: said(`${name} must be a number.`),
    });
  if (min !== undefined)
    checks.push({ isFault: `${value} < ${min}`, words: said(`${name} can not be less than ${min}.`) });
  if (max !== undefined)
    checks.push({ isFault: `${value} > ${max}`, words: said(`${name} can not be more than ${max}.`) });
  if (type === 'date')
    checks.push({
      isFault: `${value} NOT BETWEEN ${daysMax}`,
      words: said(`${name} must be a day of the years 1 to 9999.`),
    });
  return checks;
}

/** What one id of a reference table is called. */
const calledOf = { stage: 'stage', task_status: 'task status', task_priority: 'task priority' } as const;

function choiceChecks(
  schema: string,
  name: string,
  type: ColumnType,
  value: string,
  { oneOf, options }: ColumnEditing,
): Check[] {
  const checks: Check[] = [];
  if (oneOf)
    checks.push({
      isFault: `${value} IS NOT NULL AND NOT EXISTS (SELECT FROM ${qualified(schema, oneOf)} x WHERE x.id = ${value} AND x.retired_at IS NULL)`,
      words: `format('The CRM has no ${calledOf[oneOf]} %s.', ${value})`,
    });
  if (options) {
    const list = `ARRAY[${options.map(escapeLiteral).join(', ')}]::text[]`;
    checks.push({
      isFault: type === 'text[]' ? `NOT ${value} <@ ${list}` : `${value} <> ALL (${list})`,
      words: said(`${name} takes only: ${options.join(', ')}.`),
    });
  }
  return checks;
}
