import { readdirSync, readFileSync } from 'node:fs';
import Fastify, { type FastifyInstance } from 'fastify';
import { freePort } from './demo-processes.ts';
import { type Stage, statusPageUrl } from './demo-stage.ts';
import { isMissing } from './demo-warehouse.ts';

/** Serves one page that shows all sides, and says what happens between them. */
export async function startDemoPage(stage: Stage): Promise<{ readonly url: string; close(): Promise<void> }> {
  const server = Fastify({ forceCloseConnections: true });
  // Another site's page can send text here without being asked first, but no JSON.
  server.removeContentTypeParser('text/plain');
  addFiles(server, stage);
  for (const { name, url } of panesOf(stage)) forward(server, name, url);
  server.get('/status', async () => (await fetch(`${stage.daemonUrl}/api/status`)).json());
  const url = await server.listen({ host: '127.0.0.1', port: await freePort(4000) });
  return { url, close: () => server.close() };
}

interface Pane {
  readonly name: 'sheet' | 'crm' | 'warehouse';
  readonly title: string;
  readonly words: string;
  readonly url: string;
}

const panesOf = ({ crm, sheets, warehouse }: Stage): readonly Pane[] => [
  { name: 'sheet', title: 'Sheet', words: 'The sheet, as account managers see it', url: sheets.gridUrl },
  { name: 'crm', title: 'CRM', words: 'The CRM, as sales sees it', url: crm.pageUrl },
  ...(isMissing(warehouse)
    ? []
    : [
        {
          name: 'warehouse' as const,
          title: 'Warehouse',
          words: 'The warehouse, as analysts see it',
          url: warehouse.pageUrl,
        },
      ]),
];

function addFiles(server: FastifyInstance, stage: Stage): void {
  const origins = panesOf(stage).map(({ url }) => new URL(url).origin);
  const policy = `default-src 'self'; img-src data:; frame-src ${origins.join(' ')}; frame-ancestors 'none'`;
  const add = (route: string, type: string, content: string | Buffer) =>
    server.get(route, (_request, reply) =>
      reply
        .type(`${type}; charset=utf-8`)
        .headers({ 'content-security-policy': policy, 'referrer-policy': 'no-referrer' })
        .send(content),
    );
  add('/', 'text/html', renderPage(stage));
  for (const name of readdirSync(new URL('page', import.meta.url)))
    add(
      `/${name}`,
      name.endsWith('.css') ? 'text/css' : 'text/javascript',
      readFileSync(new URL(`page/${name}`, import.meta.url)),
    );
}

/** Lets the page use what the page of a side uses: a browser keeps it from another port. */
function forward(server: FastifyInstance, name: Pane['name'], url: string): void {
  server.all<{ Params: { '*': string } }>(`/sides/${name}/*`, async (request, reply) => {
    const { search } = new URL(request.url, url);
    const tag = request.headers['if-none-match'];
    const answer = await fetch(new URL(`/${request.params['*']}${search}`, url), {
      method: request.method,
      headers: { ...(tag ? { 'if-none-match': tag } : {}), 'content-type': 'application/json' },
      ...(request.body ? { body: JSON.stringify(request.body) } : {}),
    });
    for (const header of ['etag', 'content-type']) {
      const value = answer.headers.get(header);
      if (value) reply.header(header, value);
    }
    return reply.code(answer.status).send(Buffer.from(await answer.arrayBuffer()));
  });
}

const renderTab = ({ name, title }: Pane, index: number): string =>
  `<button type="button" aria-controls="pane-${name}" aria-pressed="${index === 0}">${title}</button>`;

const renderPane = ({ name, title, words, url }: Pane, index: number): string =>
  `<section id="pane-${name}"${index === 0 ? ' class="chosen"' : ''}><h2>${words}</h2><iframe title="${title}" src="${url}"></iframe></section>`;

const renderPage = (stage: Stage): string => `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>crm-sheet-sync demo</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/demo.css">
<script type="module" src="/demo.js"></script>
<header>
  <h1>crm-sheet-sync</h1>
  <p id="status"></p>
  <div id="acts">
    <button type="button" data-act="edit">Edit the sheet</button>
    <button type="button" data-act="editBoth">Edit both sides</button>
    <button type="button" data-act="deleteRow">Delete a row</button>
  </div>
  <a href="${statusPageUrl(stage)}" target="_blank" rel="noopener">Status page</a>
</header>
<p id="line" role="status">Change something in any pane, or press a button: this line says what comes of it.</p>
<nav aria-label="Panes">${panesOf(stage).map(renderTab).join('')}</nav>
<main>
${panesOf(stage).map(renderPane).join('\n')}
</main>
</html>
`;
