import { z } from 'zod';
import { type ErrorCode, errorKinds, hintOf } from '../core/errors.ts';
import { sheetHints } from '../sheet/port/errors.ts';
import { warehouseHints } from '../warehouse/port/errors.ts';
import { environmentVariables, settingsSchema } from './settings.ts';

/** One setting as it is shown to people. */
export interface SettingRow {
  /** Path in the configuration file; `<field>`, `<link>` and `<id>` stand for any name. */
  readonly path: string;
  readonly variable: string | undefined;
  readonly kind: string;
  /** As it would stand in the file; `undefined` where there is none. */
  readonly initial: string | undefined;
  readonly isRequired: boolean;
  readonly description: string;
}

/** Every setting, from the schema itself, so that no list of them can be out of date. */
export function listSettings(): SettingRow[] {
  return walk(z.toJSONSchema(settingsSchema, { io: 'input' }), [], true);
}

const anyNames: Readonly<Record<string, string>> = { links: '<link>', users: '<id>' };

type Schema = z.core.JSONSchema.BaseSchema;

function walk(node: Schema | boolean, path: readonly string[], isRequired: boolean): SettingRow[] {
  const { properties, required = [], additionalProperties = {}, ...setting }: Schema = Object(node);
  if (properties) {
    return Object.entries(properties).flatMap(([name, inner]) =>
      walk(inner, [...path, name], isRequired && required.includes(name)),
    );
  }
  // What may hold anything is described as a whole.
  if (Object.keys(Object(additionalProperties)).length > 0) {
    return walk(additionalProperties, [...path, anyNames[path.at(-1) ?? ''] ?? '<field>'], false);
  }
  const dotted = path.join('.');
  return [
    {
      path: dotted,
      variable: environmentVariables.find((variable) => variable.path.join('.') === dotted)?.name,
      kind: kindOf(setting),
      initial: setting.default === undefined ? undefined : JSON.stringify(setting.default),
      isRequired,
      description: setting.description ?? '',
    },
  ];
}

function kindOf({ anyOf, enum: words, type }: Schema): string {
  if (words) return words.join(' | ');
  return type?.toString() ?? (anyOf ? 'value or list' : 'text');
}

const tabPath = /^(sheet\.tabs|warehouse\.tables)\.\w+\./;

/** The settings that every tab has, once for all of them; a default that differs is given for each tab. */
function mergeTabs(rows: readonly SettingRow[]): SettingRow[] {
  const alike = Map.groupBy(rows, ({ path }) => path.replace(tabPath, '$1.<tab>.'));
  return [...alike].flatMap(([path, [first, ...others]]): SettingRow[] => {
    if (!first) return [];
    if (others.length === 0) return [first];
    const defaults = new Set([first, ...others].flatMap(({ initial }) => initial ?? []));
    return [{ ...first, path, initial: defaults.size === 0 ? undefined : [...defaults].join(', ') }];
  });
}

/** Every setting, those that every tab has once. */
export const listSettingsOnce = (): SettingRow[] => mergeTabs(listSettings());

/** The settings as a table in Markdown. */
export function settingsTable(): string {
  const lines = listSettingsOnce().map(({ path, variable, kind, initial, isRequired, description }) => {
    const shown = initial ?? (isRequired ? '(needed)' : '');
    return `| \`${path}\` | ${variable ? `\`${variable}\`` : ''} | ${kind.replaceAll('|', '\\|')} | ${shown} | ${description} |`;
  });
  return ['| setting | environment | kind | default | meaning |', '|---|---|---|---|---|', ...lines].join(
    '\n',
  );
}

const hints: Readonly<Partial<Record<ErrorCode, string>>> = { ...sheetHints, ...warehouseHints };

/** What to do about any error. */
const hintFor = (code: ErrorCode): string => hints[code] ?? hintOf(code);

const menders = {
  operator: 'the operator',
  editor: 'the person at the row',
  time: 'time',
  bug: 'a developer',
} as const;

/** The closed table of errors: code, who mends it, and what to do. */
export const listErrors = (): (readonly [code: string, mender: string, hint: string])[] =>
  Object.entries(errorKinds).map(([code, { mender }]) => [code, menders[mender], hintFor(code as ErrorCode)]);

/** The same in Markdown, for the manual. */
export function errorsTable(): string {
  const lines = listErrors().map(([code, mender, hint]) => `| \`${code}\` | ${mender} | ${hint} |`);
  return ['| code | mended by | what to do |', '|---|---|---|', ...lines].join('\n');
}
