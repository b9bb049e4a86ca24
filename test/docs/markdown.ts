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

const manualFolder = 'src/manual';

/** The pages of the manual. */
export const manualPages = readdirSync(posix.join(root, manualFolder))
  .filter((name) => name.endsWith('.md'))
  .map((name) => readDocument(`${manualFolder}/${name}`));

export const readme = readDocument('README.md');

/** What people read who run, use or upgrade it. */
export const userDocuments = [readme, ...manualPages, readDocument('CHANGELOG.md')];

export const documents = [...userDocuments, readDocument('src/README.md')];

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

/** The anchor of a heading, as GitHub makes it where no other heading of the page is the same. */
export const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');

/** The anchors of a document's headings from a level on. */
export const anchorsOf = ({ text }: Document, level = 1): string[] =>
  [...withoutBlocks(text).matchAll(/^(#+) (.*)$/gm)].flatMap(([, marks = '', heading = '']) =>
    marks.length >= level ? [anchorOf(heading)] : [],
  );

/** What is said in the project's own words: without code, and without what the program is quoted with. */
export const ownProse = ({ text }: Document): string =>
  withoutBlocks(text)
    .replace(/`[^`\n]*`/g, '`…`')
    .replace(/“[^”]*”/g, '“…”');

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
