import { basename, dirname } from 'node:path';
import { areaOf, fileRule, isPageScript, isSource, type Rule } from './rule.ts';
import { childNode, childNodes, type Source, type SyntaxNode } from './source.ts';

/** Time, chance and the process belong to the outermost parts and to the sandbox's servers; everything else is given them. */
const mayTouchTheWorld = (path: string) =>
  ['app', 'cli', 'main'].includes(areaOf(path)) ||
  /^src\/sandbox\/\w+\/(server|[\w-]+-routes)\.ts$/.test(path);

const worldlyNames = new Set([
  'setTimeout',
  'setInterval',
  'setImmediate',
  'randomUUID',
  'randomBytes',
  'console',
]);
const worldlyMembers = new Set([
  'Date.now',
  'Math.random',
  'AbortSignal.timeout',
  'performance.now',
  'process.env',
  'process.exit',
  'process.hrtime',
]);
const worldlyModules = new Set(['node:timers', 'node:timers/promises', 'node:perf_hooks', 'node:process']);

const nameOf = (node: SyntaxNode | undefined): string =>
  node?.type === 'Identifier' && typeof node['name'] === 'string' ? node['name'] : '';

/** What a node takes from the world around the program, in words; `undefined` for nothing. */
function worldlyUse(node: SyntaxNode): string | undefined {
  if (node.type === 'MemberExpression') {
    const member = `${nameOf(childNode(node, 'object'))}.${nameOf(childNode(node, 'property'))}`;
    return worldlyMembers.has(member) ? member : undefined;
  }
  if (node.type === 'NewExpression') {
    const isNow = nameOf(childNode(node, 'callee')) === 'Date' && childNodes(node, 'arguments').length === 0;
    return isNow ? 'new Date()' : undefined;
  }
  return worldlyNames.has(nameOf(node)) ? nameOf(node) : undefined;
}

const givenWorld = fileRule(
  'time, chance and environment are given',
  (path) => isSource(path) && !isPageScript(path) && !mayTouchTheWorld(path),
  ({ imports, lineAt, nodes }) => {
    const modules = imports
      .filter(({ specifier }) => worldlyModules.has(specifier))
      .map(({ specifier, line }) => ({ line, use: specifier }));
    const uses = nodes.flatMap((node) => {
      const use = worldlyUse(node);
      return use === undefined ? [] : [{ line: lineAt(node.start), use }];
    });
    return [...modules, ...uses].map(({ line, use }) => ({
      line,
      message: `uses ${use}: take a clock, a chance or a setting as an argument, so that a test can hold it.`,
    }));
  },
);

const noBarrels = fileRule(
  'no file only passes on others',
  () => true,
  ({ nodes, path }) => {
    const statements = childNodes(nodes[0]!, 'body');
    const passesOn = (node: SyntaxNode) =>
      node.type.startsWith('Export') && childNode(node, 'source') !== undefined;
    const isBarrel = statements.length > 0 && statements.every(passesOn);
    return isBarrel || /^index\.\w+$/.test(basename(path))
      ? [{ line: 1, message: 'is a barrel: import from the file that has the thing.' }]
      : [];
  },
);

const sourceLinesMax = 400;
const testLinesMax = 600;
const functionLinesMax = 70;

const shortFiles = fileRule(
  'files stay short',
  () => true,
  ({ lineCount, path }) => {
    const most = isSource(path) ? sourceLinesMax : testLinesMax;
    const message = `has ${lineCount} lines, at most ${most} are allowed: split it by what it is about.`;
    return lineCount > most ? [{ line: most + 1, message }] : [];
  },
);

const folderFilesMax = 25;

const smallFolders: Rule = {
  name: 'folders stay small',
  find: (sources) =>
    [...Map.groupBy(sources, ({ path }) => dirname(path))].flatMap(([path, { length }]) =>
      isSource(path) && length > folderFilesMax
        ? [{ path, line: 1, message: `has ${length} files, at most ${folderFilesMax} are allowed.` }]
        : [],
    ),
};

const functionTypes = new Set(['FunctionDeclaration', 'FunctionExpression', 'ArrowFunctionExpression']);

const shortFunctions = fileRule(
  'functions stay short',
  (path) => isSource(path) && !isPageScript(path),
  ({ lineAt, nodes }) =>
    nodes
      .filter(({ type }) => functionTypes.has(type))
      .map(({ start, end }) => ({ line: lineAt(start), lines: lineAt(end) - lineAt(start) + 1 }))
      .filter(({ lines }) => lines > functionLinesMax)
      .map(({ line, lines }) => ({
        line,
        message: `begins a function of ${lines} lines, at most ${functionLinesMax} are allowed: give its steps names of their own.`,
      })),
);

/** Words that fit everything and so say nothing. */
const emptyWords = new Set(
  'util utils utility utilities helper helpers common misc manager managers service services handler handlers impl wrapper stuff'.split(
    ' ',
  ),
);
/** Words that say nothing when a name ends in them. */
const emptyEndings = new Set(['data', 'info', 'temp']);

/** `readRowValues`, `HTTP_PORT` and `row-values.ts` as words. */
const wordsOf = (name: string): string[] =>
  name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .split(/[^A-Za-z0-9]+/)
    .map((word) => word.toLowerCase())
    .filter((word) => word !== '');

function emptyWord(name: string): string | undefined {
  const words = wordsOf(name);
  const last = words.at(-1) ?? '';
  return words.find((word) => emptyWords.has(word)) ?? (emptyEndings.has(last) ? last : undefined);
}

/** Everything a file exports by name, with where it stands. */
function exportedNames(source: Source): { readonly name: string; readonly line: number }[] {
  return source.nodes
    .filter(({ type }) => type === 'ExportNamedDeclaration')
    .flatMap((node) => {
      const declaration = childNode(node, 'declaration');
      const declared = declaration ? [declaration, ...childNodes(declaration, 'declarations')] : [];
      const names = [
        ...declared.map((each) => nameOf(childNode(each, 'id'))),
        ...childNodes(node, 'specifiers').map((each) => nameOf(childNode(each, 'exported'))),
      ];
      return names.filter((name) => name !== '').map((name) => ({ name, line: source.lineAt(node.start) }));
    });
}

const tellingNames = fileRule(
  'names say what a thing is',
  () => true,
  (source) => {
    const stem = basename(source.path).replace(/(\.(test|soak))?\.\w+$/, '');
    const isKebab = /^[a-z0-9]+(-[a-z0-9]+)*(\.config)?$/.test(stem);
    const shape = isKebab ? [] : [{ line: 1, message: `is called ${stem}: name files in kebab-case.` }];
    const empty = [{ name: stem, line: 1 }, ...exportedNames(source)].flatMap(({ name, line }) => {
      const word = emptyWord(name);
      return word
        ? [{ line, message: `names something ${name}: “${word}” fits everything. Name what it is or does.` }]
        : [];
    });
    return [...shape, ...empty];
  },
);

const namedExports = fileRule(
  'exports have names',
  (path) => !path.endsWith('.config.ts'),
  ({ lineAt, nodes }) =>
    nodes
      .filter(({ type }) => type === 'ExportDefaultDeclaration')
      .map(({ start }) => ({ line: lineAt(start), message: 'has a default export: export it by its name.' })),
);

const knownTypes = fileRule(
  'types are known',
  (path) => path.endsWith('.ts'),
  ({ lineAt, nodes, text }) => {
    const anys = nodes
      .filter(({ type }) => type === 'TSAnyKeyword')
      .map(({ start }) => ({
        line: lineAt(start),
        message: 'says any: use the type, or unknown and a type guard.',
      }));
    const silenced = [...text.matchAll(/^\s*\/[/*]\s*@ts-(ignore|expect-error|nocheck)/gm)].map(
      ({ index, 1: word }) => ({
        line: lineAt(index),
        message: `silences the compiler with @ts-${word}: make the types say what is true.`,
      }),
    );
    return [...anys, ...silenced];
  },
);

const finishedWork = fileRule(
  'work is finished',
  // The files of this folder have to name the words they look for.
  (path) => !path.startsWith('test/architecture/'),
  ({ lineAt, text }) =>
    [...text.matchAll(/\b(TODO|FIXME|XXX|HACK)\b/g)].map(({ index, 0: word }) => ({
      line: lineAt(index),
      message: `says ${word}: do it now, or say in a full sentence what the limit is.`,
    })),
);

/** `skipIf` may stay: it is for what a machine can not have, and says so when it skips. */
const runTests = fileRule(
  'every test runs',
  (path) => path.startsWith('test/') && path.endsWith('.test.ts'),
  ({ lineAt, nodes }) =>
    nodes.flatMap((node) => {
      const [object, property] = [nameOf(childNode(node, 'object')), nameOf(childNode(node, 'property'))];
      const isTest = ['it', 'test', 'describe'].includes(object);
      return isTest && ['skip', 'only', 'todo', 'fails'].includes(property)
        ? [{ line: lineAt(node.start), message: `says ${object}.${property}: mend the test or remove it.` }]
        : [];
    }),
);

const outboxStates = new Set(['waiting', 'sending', 'unknown', 'refused', 'review', 'done']);

const outboxTable = fileRule(
  'an outbox item gets its state from its table',
  (path) => /^src\/(core|sync|sheet)\//.test(path) && path !== 'src/core/outbox.ts',
  ({ lineAt, nodes }) =>
    nodes.flatMap((node) => {
      const properties = childNodes(node, 'properties');
      const isCopy = properties.some(({ type }) => type === 'SpreadElement');
      const setsState = properties.some(
        (property) =>
          nameOf(childNode(property, 'key')) === 'state' &&
          outboxStates.has(String(childNode(property, 'value')?.['value'])),
      );
      const message = 'sets the state of a copy: name what happened, and let core/outbox.ts set it.';
      return isCopy && setsState ? [{ line: lineAt(node.start), message }] : [];
    }),
);

/** Words of a spreadsheet, as a whole and as parts of names: `cell`, `cells`, `cellOf`, `newCells`. */
const sheetWords = ['cell', 'tab', 'grid', 'formula', 'spreadsheet', 'google'];
const wholeWord = new RegExp(`\\b(?:${sheetWords.join('|')})s?\\b`, 'i');
const nameParts = new RegExp(
  `\\b(?:${sheetWords.join('|')})s?[A-Z]|[a-z](?:${sheetWords.map((word) => `${word.charAt(0).toUpperCase()}${word.slice(1)}`).join('|')})s?(?![a-z])`,
);

const neutralWords = fileRule(
  'what all sides share speaks of none',
  (path) => /^src\/(core|sync)\//.test(path),
  ({ text }) =>
    text.split('\n').flatMap((line, index) => {
      const [word] = wholeWord.exec(line) ?? nameParts.exec(line) ?? [];
      return word === undefined
        ? []
        : [{ line: index + 1, message: `says “${word}”: a side has that, which another may not have.` }];
    }),
);

/** How files are written. */
export const writingRules: readonly Rule[] = [
  givenWorld,
  noBarrels,
  shortFiles,
  smallFolders,
  shortFunctions,
  tellingNames,
  namedExports,
  knownTypes,
  finishedWork,
  runTests,
  outboxTable,
  neutralWords,
];
