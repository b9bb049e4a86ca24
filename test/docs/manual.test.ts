import { existsSync } from 'node:fs';
import { posix } from 'node:path';
import type { Command } from 'commander';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { linkVariable } from '../../src/app/config.ts';
import { environmentVariables } from '../../src/app/settings.ts';
import { listSettings } from '../../src/app/tables.ts';
import { buildProgram } from '../../src/cli/program.ts';
import { errorKinds } from '../../src/core/errors.ts';
import {
  anchorsOf,
  documents,
  inlineCode,
  innerLinks,
  manualPages,
  readDocument,
  readSentences,
  root,
  shellLines,
} from './markdown.ts';

const program = await buildProgram({ environment: {}, finish: () => undefined });
const commands: ReadonlyMap<string, Command> = new Map(
  program.commands.map((command) => [command.name(), command]),
);
const longNames = ({ options }: Command): string[] => options.flatMap(({ long }) => long ?? []);
/** What every command has. */
const common = ['--help', ...longNames(program)];
const { scripts } = z
  .object({ scripts: z.record(z.string(), z.string()) })
  .parse(JSON.parse(readDocument('package.json').text));

const code = documents.flatMap((document) => inlineCode(document));
const lines = documents.flatMap((document) => shellLines(document));

/** Words of our own program in a line of code: behind `npm run cli --` or `node src/main.ts`, or from the start. */
function ownWords(line: string): string[] {
  const [, own = line] = /(?:npm run cli --|node src\/main\.ts|run --rm daemon) (.*)/.exec(line) ?? [];
  return own.split(' ');
}

test('every command in the documents exists, with the options it is shown with', () => {
  const shown = [...lines, ...code].map(ownWords);
  const wrong = shown.flatMap(([name = '', ...words]) => {
    const command = commands.get(name);
    const options = words.flatMap((word) => /^(--[a-z-]+)/.exec(word)?.[1] ?? []);
    // Other programs have options as well; ours are known by their commands.
    if (!command) return [];
    const known = [...common, ...longNames(command)];
    return options.filter((option) => !known.includes(option)).map((option) => `${name} ${option}`);
  });
  expect(wrong).toEqual([]);
  const called = lines.filter((line) => /npm run cli --|src\/main\.ts|run --rm daemon/.test(line));
  expect(called.length).toBeGreaterThan(2);
  expect(called.map((line) => ownWords(line)[0]).filter((name = '') => !commands.has(name))).toEqual([]);
});

test('every option in the documents is one of some command', () => {
  const known = [...common, ...[...commands.values()].flatMap(longNames)];
  // Of Docker, gcloud, the benchmarks, the simulation and Node.
  const others = [
    '--build',
    '--omit',
    '--runs',
    '--seed',
    '--calm',
    '--sql',
    '--only',
    '--minutes',
    '--edits',
    '--window-ms',
    '--rows',
    '--max-old-space-size',
    '--max-semi-space-size',
    '--heap-growing-percent',
    '--impersonate-service-account',
    '--allowed-audiences',
  ];
  const shown = code.flatMap((text) =>
    [...text.matchAll(/(?<![\w-])--[a-z][a-z-]+/g)].map(([option]) => option),
  );
  expect(shown.length).toBeGreaterThan(10);
  expect([...new Set(shown)].filter((option) => ![...known, ...others].includes(option))).toEqual([]);
});

test('every script of npm in the documents exists', () => {
  const called = [...lines, ...code].flatMap((text) =>
    [...text.matchAll(/npm run ([\w:-]+)/g)].map(([, name = '']) => name),
  );
  expect(called.length).toBeGreaterThan(5);
  expect([...new Set(called)].filter((name) => !(name in scripts))).toEqual([]);
});

const isOfEdits = (text: string) => ['crm.edit', 'crm.question', 'crm.unsynced'].includes(text);

test('every setting and every variable in the documents exists', () => {
  const paths = listSettings().map(({ path }) => path);
  const isSetting = (text: string) => {
    // What is true of every tab is true of the leads.
    const path = text.replace('<tab>', 'leads').replace(/: .*$/, '');
    return paths.some((known) => known === path || known.startsWith(`${path}.`));
  };
  const sections = [...new Set(paths.map((path) => path.split('.')[0]))].join('|');
  const named = code.filter((text) => new RegExp(`^(${sections})\\.[\\w.<>]+(: .*)?$`).test(text));
  expect(named.length).toBeGreaterThan(20);
  // Lines of the log have names like settings, and so have the tables and views of edits.
  expect(named.filter((text) => !isSetting(text) && !isSaidAsName(text) && !isOfEdits(text))).toEqual([]);
  const variables = [
    ...environmentVariables.flatMap(({ name }) => [name, `${name}_FILE`]),
    // Of the links in the examples.
    ...environmentVariables.flatMap(({ name }) => [`${name}_NORTH`, `${name}_SOUTH_FILE`]),
    ...Object.keys(errorKinds),
    'CRM_SYNC_CONFIG',
    linkVariable,
    ...[...readDocument('compose.yaml').text.matchAll(/\$\{([A-Z_]+)/g)].map(([, name = '']) => name),
  ];
  const upper = code.filter((text) =>
    /^(CRM|GOOGLE|WAREHOUSE|HTTP|REDIS|STATE|LOG|CONTROL|ALERT)_[A-Z_]+$/.test(text),
  );
  expect(upper.filter((name) => !variables.includes(name) && !isSaidAsName(name))).toEqual([]);
});

/** Conditions of the health have names like errors; they are made where they are found. So are the names of lines of the log. */
const isSaidAsName = (name: string) => sentences.some((text) => text.includes(`'${name}'`));

const sentences = readSentences();

/** Whether one file of the program has all parts of a message. */
const isSaid = (message: string) => {
  const parts = message.split('…').map((part) => part.trim());
  return sentences.some((text) => parts.every((part) => text.includes(part)));
};

test('every message that the manual explains is one of the program', () => {
  const messages = manualPages.flatMap(({ text }) => {
    const [, explained = ''] = text.split('\n## What a message means\n');
    const cells = [...(explained.split('\n## ')[0] ?? '').matchAll(/^\| “(.+)”(?:, for [^|]*)? \| /gm)];
    return cells.flatMap(([, quoted = '']) => quoted.split('”, “'));
  });
  expect(messages.length).toBeGreaterThan(50);
  expect(messages.filter((message) => !isSaid(message))).toEqual([]);
});

test('every link within the repository leads somewhere', () => {
  const links = documents.flatMap((document) => innerLinks(document));
  expect(links.length).toBeGreaterThan(15);
  const broken = links.filter(({ anchor, file }) => {
    if (!existsSync(posix.join(root, file))) return true;
    return anchor !== '' && !anchorsOf(readDocument(file)).includes(anchor);
  });
  expect(broken).toEqual([]);
});
