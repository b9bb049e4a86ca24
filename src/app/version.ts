import { readFileSync } from 'node:fs';

const manifestFile = new URL('../../package.json', import.meta.url);

const manifest: { readonly version: string } = JSON.parse(readFileSync(manifestFile, 'utf8'));

/** The version of the program, as its package says it. */
export const { version } = manifest;
