import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { type Document, isMap, parseDocument } from 'yaml';
import { SyncError } from '../core/errors.ts';
import { type Environment, secretFilePath } from './config-sources.ts';
import { environmentVariables } from './settings.ts';

const firstLine =
  ' Written by init. Every setting with its default stands in config/crm-sheet-sync.example.yaml.';

/**
 * Puts what the variables say into the configuration file, and begins one where there is none; of a secret only the name of its file. What
 * else stands in the file stays, comments too. Fails with CONFIG_INVALID where it can not be written.
 */
export function keepSettings(file: string, variables: Environment): void {
  try {
    const text = existsSync(file) ? readFileSync(file, 'utf8') : undefined;
    const document: Document = parseDocument(text ?? '', { logLevel: 'error' });
    if (!isMap(document.contents) || document.contents.items.length === 0)
      document.contents = document.createNode({});
    if (text === undefined) document.commentBefore = firstLine;
    for (const [name, value] of Object.entries(variables)) {
      const path = pathOf(name);
      if (path === undefined || value === undefined) continue;
      const [section] = path;
      // A section without anything in it can take nothing in.
      if (!isMap(document.get(section))) document.set(section, document.createNode({}));
      document.setIn(path, value);
    }
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, document.toString({ lineWidth: 0 }));
  } catch (cause) {
    throw new SyncError('CONFIG_INVALID', `The configuration file ${file} can not be written.`, { cause });
  }
}

/** Whether a configuration file that is there was begun by {@link keepSettings}. */
export const isBegunByInit = (file: string): boolean =>
  readFileSync(file, 'utf8').startsWith(`#${firstLine}`);

function pathOf(name: string): readonly string[] | undefined {
  const variable = environmentVariables.find(
    ({ isSecret, name: plain }) => name === (isSecret ? `${plain}_FILE` : plain),
  );
  return variable?.isSecret ? secretFilePath(variable.path) : variable?.path;
}

/** Writes a secret into a file that nobody else can read. Fails with CONFIG_INVALID where it can not be written. */
export function keepSecret(file: string, secret: string): void {
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    writeFileSync(file, secret, { mode: 0o600 });
    // A file that was there keeps the mode it had.
    chmodSync(file, 0o600);
  } catch (cause) {
    throw new SyncError('CONFIG_INVALID', `The secret file ${file} can not be written.`, { cause });
  }
}
