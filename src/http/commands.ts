import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { isSyncError } from '../core/errors.ts';
import type { Link } from '../sync/link.ts';
import type { Access } from './guard.ts';
import { readInput } from './input.ts';

/** Notes a command that was carried out. `about`: ids, questions and answers, never a value of a record. */
export type NoteCommand = (request: FastifyRequest, about: string) => void;

/** Keeps each command with the name of its token. */
export function noteCommands({ clock, log, mirror }: Link, access: Access): NoteCommand {
  return (request, about) => {
    const { url: command = '' } = request.routeOptions;
    const name = command.slice(command.lastIndexOf('/') + 1);
    const by = access.tokenOf(request)?.name ?? '';
    try {
      mirror.appendCommand({ at: clock.now(), by, name, about });
    } catch (error) {
      if (!isSyncError(error)) throw error;
      // The command is done all the same, and must not be given again.
      log.error('command.unnoted', { command, by, code: error.code });
    }
    log.info('command.done', { command, by });
  };
}

const limitMax = 1_000;
const wrongNumber = 'must be a whole number from 1 on';
const wholeNumber = z.coerce.number(wrongNumber).int(wrongNumber).min(1, wrongNumber);
const commandsQuery = z.strictObject({
  before: wholeNumber.optional(),
  limit: wholeNumber.max(limitMax, `must be ${limitMax} at most`).default(50),
});

/** Adds a page of the commands, newest first, with the number before which the next one begins where there is one. */
export function addCommandsRoute(server: FastifyInstance, { mirror }: Link): void {
  server.get('/api/commands', (request) => {
    const { before, limit } = readInput(commandsQuery, request.query);
    const commands = mirror.readCommands(limit + 1, before);
    const shown = commands.slice(0, limit);
    const next = commands.length > limit ? shown.at(-1)?.id : undefined;
    return {
      commands: shown.map(({ at, ...command }) => ({ ...command, at: new Date(at).toISOString() })),
      ...(next === undefined ? {} : { next }),
    };
  });
}
