import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { choicesBySpreadsheet } from './control/choices.ts';
import { choose, type StoredFile, storeSpreadsheet } from './documents.ts';
import { faultsShape } from './faults.ts';
import { parseBody, splitUrl } from './google-routes.ts';
import { gridView } from './grid-view.ts';
import { personAction } from './people/person-shapes.ts';
import { usageOf } from './quota.ts';
import { batchUpdate } from './requests/batch-update.ts';
import { parseRequest } from './requests/request-kind.ts';
import { performActions, type Sandbox } from './sandbox.ts';
import { notFound } from './wire/google-error.ts';
import { readCall } from './wire/methods.ts';

const actionsShape = z.union([personAction, z.array(personAction)]);

/**
 * What Google does not have: usage counts, faults, choices, a person's hands, and the grid for the page. `owner` takes what
 * `spreadsheets.batchUpdate` takes and does it as the person who owns the spreadsheet, past quotas and protections.
 */
export function registerSandboxRoutes(
  server: FastifyInstance,
  sandbox: Sandbox,
  spreadsheetId: string,
): void {
  function fileOf(url: string): StoredFile {
    const id = splitUrl(url).query.get('spreadsheetId') ?? spreadsheetId;
    const file = sandbox.documents.files.get(id);
    if (!file) throw notFound();
    return file;
  }

  server.get('/__sandbox/usage', () => ({
    ...usageOf(sandbox.quota),
    answeredBytes: sandbox.answeredBytes,
    answeringMs: sandbox.answeringMs,
  }));
  server.get('/__sandbox/faults', () => sandbox.faults);
  server.post('/__sandbox/faults', (request) => {
    sandbox.faults = parseRequest(faultsShape, parseBody(request.body));
    return sandbox.faults;
  });
  server.get('/__sandbox/choices', () => sandbox.documents.choices);
  server.post('/__sandbox/choices', (request) => {
    choose(sandbox.documents, parseRequest(choicesBySpreadsheet, parseBody(request.body)));
    return sandbox.documents.choices;
  });
  server.post('/__sandbox/person', (request) => {
    const actions = [parseRequest(actionsShape, parseBody(request.body))].flat();
    const file = fileOf(request.url);
    performActions(sandbox, file, actions);
    return { revision: file.revision };
  });
  server.post('/__sandbox/owner', (request) => {
    const file = fileOf(request.url);
    const body = readCall('POST :batchUpdate', new URLSearchParams(), parseBody(request.body));
    const { answer, spreadsheet } = batchUpdate(file.spreadsheet, body, '', sandbox.documents.ids.nextId);
    storeSpreadsheet(file, spreadsheet, sandbox.clock());
    return answer;
  });
  server.get('/__sandbox/grid', (request, reply) => {
    const file = fileOf(request.url);
    const known = splitUrl(request.url).query.get('since');
    if (known === String(file.revision)) return reply.code(204).send();
    return reply.send(gridView(file.spreadsheet, file.revision));
  });
}
