import { onTestFinished } from 'vitest';
import { answerFailure, type Script, type ScriptedServer, startScriptedServer } from './scripted-server.ts';

const refusal =
  (status: number) =>
  (words: string): Script =>
  (response) =>
    answerFailure(response, status, words);

/** How a CRM, or something in front of it, can answer so that its words hold what was sent. */
const answers = {
  '400': refusal(400),
  '401': refusal(401),
  '403': refusal(403),
  '409': refusal(409),
  '500': refusal(500),
  page: (words: string): Script => {
    return (response) => response.writeHead(200, { 'content-type': 'text/html' }).end(words);
  },
  redirect: (words: string): Script => {
    return (response) => response.writeHead(302, { location: `/?${words}` }).end(words);
  },
};

export type QuotingAnswer = keyof typeof answers;

/** A CRM that answers in these ways, one after the other and over again, and quotes the key each time. */
export async function startQuotingCrm(...kinds: readonly QuotingAnswer[]): Promise<ScriptedServer> {
  const server = await startScriptedServer((response, request) => {
    const kind = kinds[request.index % kinds.length];
    if (kind) answers[kind](`No: ${request.headers['x-api-key']}`)(response, request);
  });
  onTestFinished(() => server.close());
  return server;
}
