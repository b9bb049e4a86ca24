import { readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { buildProgram } from '../../src/cli/program.ts';
import { spawnCommand } from '../support/daemon-process.ts';
import { findFreePort } from '../support/free-port.ts';
import { openStage } from '../support/process-stage.ts';
import { until } from '../support/until.ts';

const limit = { timeout: 120_000 };

const program = await buildProgram({ environment: {}, finish: () => undefined });

const historyShape = z.object({ entries: z.array(z.object({ id: z.number(), kind: z.string() })) });
const waitingShape = z.object({ waiting: z.array(z.object({ scope: z.string() })) });

/** Commands that ask the running daemon, as they are typed. */
const asking = [
  ['status'],
  ['plan'],
  ['apply', '3f9c'],
  ['resync'],
  ['answer', 'brake:lead:emptied', 'approve'],
  ['answer', '--all', 'retry'],
  ['history'],
  ['undo', '--line', '1'],
];

describe('commands', limit, () => {
  test('show in their help examples that they take', () => {
    for (const command of program.commands) {
      let help = '';
      command.configureOutput({ writeOut: (text) => (help += text) }).outputHelp();
      const [, shown = ''] = help.split('\nExamples:\n');
      const lines = shown.trim().split(/\n */);
      const options = [program, command].flatMap((each) => each.options.flatMap(({ long }) => long ?? []));
      for (const line of lines) {
        const [name, ...words] = line.split(' ');
        expect(name).toBe(command.name());
        expect(options).toEqual(expect.arrayContaining(words.filter((word) => word.startsWith('--'))));
      }
    }
  });

  test('print the version of the package, alone and behind a command', async () => {
    const { version } = JSON.parse(await readFile(new URL('../../package.json', import.meta.url), 'utf8'));
    expect(version).toMatch(/^\d+\.\d+\.\d+$/);
    for (const words of [['--version'], ['-V'], ['status', '--version']])
      expect(await spawnCommand(words, {}).ended).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' });
  });

  test('answer a machine in JSON', async () => {
    const stage = await openStage({ counts: { leads: 12, opportunities: 0, tasks: 0 } });
    await stage.startDaemon();
    await stage.agreed();
    const read = async (...words: string[]): Promise<unknown> => {
      const { stderr, stdout } = await stage.runCommand(...words, '--json');
      expect({ words, stderr }).toEqual({ words, stderr: '' });
      return JSON.parse(stdout);
    };
    await stage.editSheet({ kind: 'edit', sheet: 'Leads', row: 1, column: 'Title', text: 'Typed' });
    const line = await until('the edit stands in the history', async () => {
      const { entries } = historyShape.parse(await read('history', '--field', 'title'));
      return entries.find(({ kind }) => kind === 'update')?.id;
    });
    expect(await read('undo', '--line', String(line), '--dry-run')).toMatchObject({
      steps: [{ kind: 'update', base: { title: 'Typed' } }],
      refusals: [],
    });
    await stage.editSheet({ kind: 'deleteRows', sheet: 'Leads', row: 2 });
    const scope = await until('the row is missed', async () => {
      const { waiting } = waitingShape.parse(await read('status'));
      return waiting.find((each) => each.scope.startsWith('vanished:'))?.scope;
    });
    expect(await read('answer', scope, 'restore')).toMatchObject({ answered: [{ scope }], left: [] });
    for (const answer of ['crm', 'sheet', 'retry', 'revert', 'ignore'])
      expect(await read('answer', '--all', answer)).toEqual({ answered: [], left: [] });
    expect(await read('backup')).toEqual({ file: expect.stringContaining('backups') });
    await stage.expectAtRest();
    const { code, stderr, stdout } = await stage.runCommand('resync', '--json');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(JSON.parse(stdout)).toMatchObject({ state: 'done', tableSteps: 0, crmWrites: 0, waiting: 0 });
    await stage.agreed();
  });

  test('say in one line that no daemon answers, does not take the token or has no such link, and exit with 4 or 1', async () => {
    const stage = await openStage({ counts: { leads: 1, opportunities: 0, tasks: 0 } });
    const daemon = await stage.startDaemon();
    await daemon.answers('/readyz');
    const HTTP_PORT = String(await findFreePort());
    const silent = { ...stage.environment, HTTP_PORT };
    const endings = await Promise.all(asking.map((words) => spawnCommand(words, silent).ended));
    expect(endings).toEqual(
      asking.map(() => ({
        code: 4,
        stdout: '',
        stderr: `No daemon answers at http://127.0.0.1:${HTTP_PORT}. Is the daemon running? Check HTTP_HOST and HTTP_PORT.\n`,
      })),
    );
    const wrong = { ...stage.environment, CONTROL_TOKEN: 'not-the-right-token' };
    const { code, stderr } = await spawnCommand(['resync'], wrong).ended;
    expect({ code, stderr: stderr.trim() }).toEqual({
      code: 1,
      stderr:
        'This needs the header Authorization: Bearer with CONTROL_TOKEN, or one of CONTROL_TOKENS. Check CONTROL_TOKEN: it must be one that the daemon was started with, and that may do this.',
    });
    const named = await stage.runCommand('status', '--link', 'north');
    expect(named).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('The daemon runs one link, which has no name: leave out --link north.'),
    });
  });
});
