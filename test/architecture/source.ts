import { readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { parseAst } from 'vitest/node';

/** An import of any form: `import`, `import type`, `export … from`, `import()` in code and in types. */
export interface Import {
  /** What stands in the quotes. */
  readonly specifier: string;
  /** The file it means, from the root of the repository; absent for libraries and built-in modules. */
  readonly file?: string;
  readonly line: number;
}

/** One TypeScript or JavaScript file, parsed. */
export interface Source {
  /** From the root of the repository: `src/core/value.ts`. */
  readonly path: string;
  readonly text: string;
  readonly lineCount: number;
  readonly imports: readonly Import[];
  readonly nodes: readonly SyntaxNode[];
  /** The line, counted from 1, of a place in the text. */
  lineAt(offset: number): number;
}

/** A node of the syntax tree in ESTree's form, with TypeScript's nodes. */
export interface SyntaxNode {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [property: string]: unknown;
}

const isNode = (value: unknown): value is SyntaxNode =>
  typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string';

/** The node in a property, where there is one. */
export function childNode(node: SyntaxNode, property: string): SyntaxNode | undefined {
  const child = node[property];
  return isNode(child) ? child : undefined;
}

/** All nodes in a property that holds a list. */
export function childNodes(node: SyntaxNode, property: string): SyntaxNode[] {
  const children = node[property];
  return Array.isArray(children) ? children.filter(isNode) : [];
}

export function parseSource(path: string, text: string): Source {
  const nodes = [...walk(parseAst(text, { lang: 'ts' }, path))];
  const lineAt = (offset: number) => text.slice(0, offset).split('\n').length;
  const imports = nodes.flatMap((node): Import[] => {
    const source = isImport(node) ? childNode(node, 'source')?.['value'] : undefined;
    if (typeof source !== 'string') return [];
    const file = source.startsWith('.') ? { file: posix.join(posix.dirname(path), source) } : {};
    return [{ specifier: source, ...file, line: lineAt(node.start) }];
  });
  return { path, text, lineCount: text.trimEnd().split('\n').length, imports, nodes, lineAt };
}

const importTypes = new Set([
  'ImportDeclaration',
  'ExportNamedDeclaration',
  'ExportAllDeclaration',
  'ImportExpression',
  'TSImportType',
]);
const isImport = (node: SyntaxNode): boolean => importTypes.has(node.type);

function* walk(value: unknown): Generator<SyntaxNode> {
  if (Array.isArray(value)) for (const member of value) yield* walk(member);
  if (!isNode(value)) return;
  yield value;
  for (const child of Object.values(value)) if (typeof child === 'object') yield* walk(child);
}

/** Every file of the folders that holds code, in a steady order. */
export function readSources(root: string, folders: readonly string[]): Source[] {
  return folders
    .flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((name) =>
        posix.join(folder, name),
      ),
    )
    .filter((path) => /\.(ts|js)$/.test(path))
    .toSorted()
    .map((path) => parseSource(path, readFileSync(join(root, path), 'utf8')));
}
