import type { Source } from './source.ts';

/** A breach of a rule: where, and what the person who made it can do. */
export interface Finding {
  readonly path: string;
  readonly line: number;
  readonly message: string;
}

/** A rule of the house. It looks at all files at once, because some rules are about how files hang together. */
export interface Rule {
  readonly name: string;
  find(sources: readonly Source[]): Finding[];
}

/** A rule that looks at one file at a time. */
export const fileRule = (
  name: string,
  concerns: (path: string) => boolean,
  find: (source: Source) => Omit<Finding, 'path'>[],
): Rule => ({
  name,
  find: (sources) =>
    sources
      .filter(({ path }) => concerns(path))
      .flatMap((source) => find(source).map((finding) => ({ path: source.path, ...finding }))),
});

export const isSource = (path: string): boolean => path.startsWith('src/');
/** Scripts of the sandbox's pages run in a browser, not in Node. */
export const isPageScript = (path: string): boolean => path.startsWith('src/') && path.endsWith('.js');

/** The part of the house a file belongs to: `core` for `src/core/value.ts`, `main` for `src/main.ts`. */
export const areaOf = (path: string): string => path.split('/')[1]?.replace(/\.ts$/, '') ?? '';

/** `path:line message`, as editors and terminals link it. */
export const describeFinding = ({ path, line, message }: Finding): string => `${path}:${line} ${message}`;
