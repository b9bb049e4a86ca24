import { readdirSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../..', import.meta.url));

/** A document of the repository, by its path from the root. */
export interface Document {
  readonly path: string;
  readonly text: string;
}

export const readDocument = (path: string): Document => ({
  path,
  text: readFileSync(posix.join(root, path), 'utf8'),
});

/** What people who run or use it read. */
export const documents = ['README.md', 'src/manual/README.md', 'src/README.md'].map(readDocument);

/** Code within sentences. */
export const inlineCode = ({ text }: Document): string[] =>
  [...withoutBlocks(text).matchAll(/`([^`\n]+)`/g)].map(([, code = '']) => code);

/** Lines of code in blocks of shell, without comments. */
export const shellLines = ({ text }: Document): string[] =>
  [...text.matchAll(/^ *```sh\n([\s\S]*?)^ *```/gm)]
    .flatMap(([, block = '']) => block.split('\n'))
    .map((line) => line.replace(/ #.*$/, '').trim())
    .filter((line) => line !== '');

const withoutBlocks = (text: string): string => text.replace(/^ *```[\s\S]*?^ *```/gm, '');

/** Where links and pictures lead that do not leave the repository: a path from the root, and a heading. */
export const innerLinks = ({ path, text }: Document): { readonly file: string; readonly anchor: string }[] =>
  [...withoutBlocks(text).matchAll(/\]\(([^)\s]+)\)/g)].flatMap(([, target = '']) => {
    if (/^https?:/.test(target)) return [];
    const [file = '', anchor = ''] = target.split('#');
    return [{ file: file === '' ? path : posix.join(posix.dirname(path), file), anchor }];
  });

/** The anchors of a document's headings, as GitHub makes them. */
export const anchorsOf = ({ text }: Document): string[] =>
  [...withoutBlocks(text).matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );

/**
 * The program's own words: every file of it with what is put into its sentences as `…`, and sentences that go on in the next line in one
 * piece.
 */
export function readSentences(): string[] {
  return readdirSync(posix.join(root, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !name.startsWith('sandbox'))
    .map((name) =>
      readFileSync(posix.join(root, 'src', name), 'utf8')
        .replace(/\$\{[^}]*\}/g, '…')
        .replace(/['`] \+\s*['`]/g, ''),
    );
}
