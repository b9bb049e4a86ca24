import { describe, expect, it } from 'vitest';
import { importRules } from './import-rules.ts';
import { describeFinding } from './rule.ts';
import { parseSource } from './source.ts';
import { writingRules } from './writing-rules.ts';

const rules = new Map([...importRules, ...writingRules].map((rule) => [rule.name, rule]));

/** What a rule says about files given as path → text; each finding cut before its advice. */
function findingsOf(ruleName: string, files: Readonly<Record<string, string>>): string[] {
  const rule = rules.get(ruleName);
  if (!rule) throw new Error(`There is no rule “${ruleName}”.`);
  const sources = Object.entries(files).map(([path, text]) => parseSource(path, text));
  return rule.find(sources).map((finding) => describeFinding(finding).split(/[:,] /)[0] ?? '');
}

interface Case {
  readonly rule: string;
  /** Files in which nothing is wrong, by path. */
  readonly good: Readonly<Record<string, string>>;
  /** Files that break the rule, with what is found in them. */
  readonly bad: Readonly<Record<string, string>>;
  readonly found: readonly string[];
}

const lines = (count: number, line = '// A line.'): string => `${line}\n`.repeat(count);

const filesIn = (folder: string, count: number): Record<string, string> =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`${folder}/a${index}.ts`, '']));

const cases: readonly Case[] = [
  {
    rule: 'imports point inwards',
    good: {
      'src/sqlite/open.ts': "import type { Value } from '../core/value.ts';",
      'src/sheet/side.ts': "import type { Side } from '../sync/side.ts';",
      'src/sandbox/crm/server.ts': "import { endpoints } from '../../crm/contract.ts';",
    },
    bad: {
      'src/core/value.ts': "import type { Mirror } from '../sqlite/open.ts';",
      'src/google/read.ts': "export * from '../crm/client.ts';",
      'src/sync/pull.ts': "type Grid = import('../google/grid.ts').Grid;",
      'src/sync/engine.ts': "import { SheetSide } from '../sheet/side.ts';",
      'src/http/plans.ts': "import type { SheetLink } from '../sheet/link.ts';",
      'src/app/link.ts': "const sandbox = await import('../sandbox/crm/server.ts');",
      'src/sandbox/crm/leads.ts': "import { send } from '../../crm/client.ts';",
      'src/cli/demo.ts': "import { setStage } from '../../test/support/stage.ts';",
      'src/shared/words.ts': "import '../core/value.ts';",
    },
    found: [
      'src/core/value.ts:1 imports src/sqlite/open.ts',
      'src/google/read.ts:1 imports src/crm/client.ts',
      'src/sync/pull.ts:1 imports src/google/grid.ts',
      'src/sync/engine.ts:1 imports src/sheet/side.ts',
      'src/http/plans.ts:1 imports src/sheet/link.ts',
      'src/app/link.ts:1 imports src/sandbox/crm/server.ts',
      'src/sandbox/crm/leads.ts:1 imports src/crm/client.ts',
      'src/cli/demo.ts:1 imports test/support/stage.ts',
      'src/shared/words.ts:1 is in src/shared',
    ],
  },
  {
    rule: 'files do not import each other in a circle',
    good: { 'src/core/a.ts': "import './b.ts';", 'src/core/b.ts': 'export const b = 1;' },
    bad: {
      'src/core/a.ts': "import './b.ts';",
      'src/core/b.ts': "export { c } from './c.ts';",
      'src/core/c.ts': "import type { A } from './a.ts';",
    },
    found: ['src/core/c.ts:1 closes a circle'],
  },
  {
    rule: 'a library has one home',
    good: { 'src/sqlite/open.ts': "import Database from 'better-sqlite3';" },
    bad: {
      'src/sync/apply.ts': "import type { Database } from 'better-sqlite3';",
      'src/core/value.ts': "import { z } from 'zod/mini';",
      'src/app/clock.ts': "import { nanoid } from 'nanoid';",
    },
    found: [
      'src/sync/apply.ts:1 imports better-sqlite3',
      'src/core/value.ts:1 imports zod',
      'src/app/clock.ts:1 imports nanoid',
    ],
  },
  {
    rule: 'the inside does without the machine',
    good: {
      'src/crm/http.ts': "import { request } from 'node:https';",
      'src/cli/demo.ts': "import 'node:os';",
    },
    bad: {
      'src/core/value.ts': "import { hash } from 'node:crypto';",
      'src/crm/http.ts': "import 'node:fs';",
    },
    found: ['src/core/value.ts:1 imports node:crypto', 'src/crm/http.ts:1 imports node:fs'],
  },
  {
    rule: 'relative imports name the file',
    good: { 'src/core/value.ts': "import './record.ts';" },
    bad: { 'src/core/value.ts': "import './record';" },
    found: ['src/core/value.ts:1 imports ./record'],
  },
  {
    rule: 'every file of src is used by the program',
    good: { 'src/main.ts': "import './cli/program.ts';", 'src/cli/program.ts': '' },
    bad: { 'src/main.ts': '', 'src/cli/program.ts': '' },
    found: ['src/cli/program.ts:1 is not reached from src/main.ts'],
  },
  {
    rule: 'time, chance and environment are given',
    good: {
      'src/app/clock.ts': 'export const now = Date.now;',
      'src/sandbox/crm/server.ts': 'export const now = Date.now;',
      'src/core/dates.ts': '// Date.now() would be wrong here.\nexport const day = new Date(0);',
    },
    bad: {
      'src/core/a.ts': 'export const at = Date.now();',
      'src/core/b.ts': 'export const at = new Date();',
      'src/sync/c.ts': 'setTimeout(() => undefined, 5);',
      'src/sync/d.ts': "import { setTimeout as sleep } from 'node:timers/promises';",
      'src/crm/e.ts': 'export const chance = Math.random;',
      'src/crm/f.ts': 'export const limit = AbortSignal.timeout(5);',
      'src/google/g.ts': 'export const id = crypto.randomUUID();',
      'src/sqlite/h.ts': "export const path = process.env['STATE_DIR'];",
      'src/http/i.ts': "console.error('no');",
      'src/sandbox/crm/model.ts': 'export const at = Date.now();',
    },
    found: [
      'src/core/a.ts:1 uses Date.now',
      'src/core/b.ts:1 uses new Date()',
      'src/sync/c.ts:1 uses setTimeout',
      'src/sync/d.ts:1 uses node:timers/promises',
      'src/sync/d.ts:1 uses setTimeout',
      'src/crm/e.ts:1 uses Math.random',
      'src/crm/f.ts:1 uses AbortSignal.timeout',
      'src/google/g.ts:1 uses randomUUID',
      'src/sqlite/h.ts:1 uses process.env',
      'src/http/i.ts:1 uses console',
      'src/sandbox/crm/model.ts:1 uses Date.now',
    ],
  },
  {
    rule: 'no file only passes on others',
    good: { 'src/core/a.ts': "export { b } from './b.ts';\nexport const a = 1;" },
    bad: { 'src/core/index.ts': 'export const a = 1;', 'src/core/all.ts': "export * from './b.ts';" },
    found: ['src/core/index.ts:1 is a barrel', 'src/core/all.ts:1 is a barrel'],
  },
  {
    rule: 'files stay short',
    good: { 'src/core/a.ts': lines(400), 'test/core/a.test.ts': lines(600) },
    bad: { 'src/core/a.ts': lines(401), 'test/core/a.test.ts': lines(601) },
    found: ['src/core/a.ts:401 has 401 lines', 'test/core/a.test.ts:601 has 601 lines'],
  },
  {
    rule: 'folders stay small',
    good: filesIn('src/core', 25),
    bad: filesIn('src/core', 26),
    found: ['src/core:1 has 26 files'],
  },
  {
    rule: 'functions stay short',
    good: { 'src/core/a.ts': `export function a() {\n${lines(68)}}` },
    bad: {
      'src/core/a.ts': `export function a() {\n${lines(69)}}`,
      'src/core/b.ts': `\nexport const b = () => {\n${lines(69)}};`,
    },
    found: ['src/core/a.ts:1 begins a function of 71 lines', 'src/core/b.ts:2 begins a function of 71 lines'],
  },
  {
    rule: 'names say what a thing is',
    good: {
      'src/core/row-values.ts': 'export const dataFilter = 1; export interface DeveloperMetadata {}',
      'test/vitest.config.ts': 'const helper = 1;',
    },
    bad: {
      'src/core/date-utils.ts': '',
      'src/core/RowValues.ts': '',
      'src/sync/a.ts': 'export class QueueManager {}',
      'src/sync/b.ts': 'export const leadData = 1, rowHelper = 2;',
      'src/sync/c.ts': 'const a = 1; export { a as commonRows };',
      'src/sync/d.ts': 'export interface RowInfo {}',
    },
    found: [
      'src/core/date-utils.ts:1 names something date-utils',
      'src/core/RowValues.ts:1 is called RowValues',
      'src/sync/a.ts:1 names something QueueManager',
      'src/sync/b.ts:1 names something leadData',
      'src/sync/b.ts:1 names something rowHelper',
      'src/sync/c.ts:1 names something commonRows',
      'src/sync/d.ts:1 names something RowInfo',
    ],
  },
  {
    rule: 'exports have names',
    good: { 'src/core/a.ts': 'export const a = 1;', 'test/vitest.config.ts': 'export default {};' },
    bad: { 'src/core/a.ts': '\nexport default function decide() {}' },
    found: ['src/core/a.ts:2 has a default export'],
  },
  {
    rule: 'types are known',
    good: { 'src/core/a.ts': "export const anyone: unknown = 'any';" },
    bad: {
      'src/core/a.ts': 'export const a = (value: any) => value;',
      'src/core/b.ts': 'export const b = (1 as any).two;',
      'src/core/c.ts': '// @ts-ignore\nexport const c: string = 1;',
    },
    found: [
      'src/core/a.ts:1 says any',
      'src/core/b.ts:1 says any',
      'src/core/c.ts:1 silences the compiler with @ts-ignore',
    ],
  },
  {
    rule: 'work is finished',
    good: { 'src/core/a.ts': "export const todo = 'Todo';" },
    bad: { 'src/core/a.ts': '\n// TODO later', 'test/core/a.test.ts': '// FIXME' },
    found: ['src/core/a.ts:2 says TODO', 'test/core/a.test.ts:1 says FIXME'],
  },
  {
    rule: 'every test runs',
    good: { 'test/core/a.test.ts': "it('works', () => {}); describe.each([1])('x', () => {});" },
    bad: { 'test/core/a.test.ts': "it.skip('works', () => {});\ndescribe.only('all', () => {});" },
    found: ['test/core/a.test.ts:1 says it.skip', 'test/core/a.test.ts:2 says describe.only'],
  },
  {
    rule: 'what all sides share speaks of none',
    good: {
      'src/core/a.ts':
        '/** A table, a row, an establishment. */\nexport const tableOf = (excellent: string) => excellent;',
      'src/sheet/a.ts': 'export const cells = [];',
    },
    bad: {
      'src/core/a.ts': '/** Every Cell of a row. */',
      'src/sync/a.ts': 'export const tabsOf = 1;',
      'src/sync/b.ts': "export const lastGrid = 'x';",
    },
    found: ['src/core/a.ts:1 says “Cell”', 'src/sync/a.ts:1 says “tabsO”', 'src/sync/b.ts:1 says “tGrid”'],
  },
  {
    rule: 'an outbox item gets its state from its table',
    good: {
      'src/core/outbox.ts': "export const next = { ...item, state: 'done' };",
      'src/sync/a.ts':
        "export const begun = { ...item, at: 1 }; export const end = { state: 'done', at: 2 };",
    },
    bad: { 'src/sync/a.ts': "export const next = { ...item, state: 'done' };" },
    found: ['src/sync/a.ts:1 sets the state of a copy'],
  },
];

describe('the rules of the house', () => {
  it.each(cases.map((each) => [each.rule, each] as const))(
    '“%s” finds what breaks it, and nothing else',
    (rule, { good, bad, found }) => {
      expect(findingsOf(rule, good)).toEqual([]);
      expect(findingsOf(rule, bad)).toEqual(found);
    },
  );

  it('have a case each', () => {
    expect(cases.map(({ rule }) => rule).toSorted()).toEqual([...rules.keys()].toSorted());
  });

  it('tell the person who broke one what to do', () => {
    const [rule] = importRules;
    const source = parseSource('src/core/value.ts', "\nimport '../sqlite/open.ts';");
    expect(rule?.find([source]).map(describeFinding)).toEqual([
      'src/core/value.ts:2 imports src/sqlite/open.ts, but core may import only core. ' +
        'Move what is needed inwards, or take it as an argument.',
    ]);
  });
});
