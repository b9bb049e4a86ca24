import Fastify from 'fastify';
import { freePort } from './demo-processes.ts';
import type { Stage } from './demo-stage.ts';
import { isMissing } from './demo-warehouse.ts';

/** Serves one page that shows all sides and what the daemon says of them. */
export async function startDemoPage(stage: Stage): Promise<{ readonly url: string; close(): Promise<void> }> {
  const server = Fastify({ forceCloseConnections: true });
  server.get('/', (_request, reply) => reply.type('text/html; charset=utf-8').send(renderPage(stage)));
  server.get('/status', async () => (await fetch(`${stage.daemonUrl}/api/status`)).json());
  const url = await server.listen({ host: '127.0.0.1', port: await freePort(4000) });
  return { url, close: () => server.close() };
}

const pane = (words: string, title: string, url: string): string =>
  `<section><h2>${words}</h2><iframe title="${title}" src="${url}"></iframe></section>`;

const panesOf = ({ crm, sheets, warehouse }: Stage): string =>
  [
    pane('The sheet, as account managers see it', 'Sheet', sheets.gridUrl),
    pane('The CRM, as sales sees it', 'CRM', crm.pageUrl),
    ...(isMissing(warehouse)
      ? []
      : [pane('The warehouse, as analysts see it', 'Warehouse', warehouse.pageUrl)]),
  ].join('\n');

const renderPage = (stage: Stage): string => `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>crm-sheet-sync demo</title>
<link rel="icon" href="data:,">
<style>
  :root { color-scheme: light dark; --line: light-dark(#d5dae1, #3a4350); --soft: light-dark(#5b6675, #9aa7b8) }
  * { box-sizing: border-box }
  body { margin: 0; height: 100vh; display: grid; grid-template-rows: auto; grid-auto-rows: minmax(0, 1fr); grid-template-columns: 1fr 1fr; font: 14px/1.4 system-ui, sans-serif }
  header { grid-column: 1 / -1; display: flex; flex-wrap: wrap; gap: .3rem 1.5rem; align-items: baseline; padding: .6rem 1rem; border-bottom: 1px solid var(--line) }
  header b { font-size: 16px }
  #status { color: var(--soft) }
  section { display: grid; grid-template-rows: auto 1fr; min-width: 0; min-height: 0 }
  section + section { border-left: 1px solid var(--line) }
  h2 { margin: 0; padding: .4rem 1rem; font-size: 13px; font-weight: 600; color: var(--soft) }
  iframe { width: 100%; height: 100%; border: 0 }
  section:nth-of-type(3) { grid-column: 1 / -1; border: 0; border-top: 1px solid var(--line) }
  @media (min-width: 1700px) {
    body:has(section:nth-of-type(3)) { grid-template-columns: 1fr 1fr 1fr }
    section:nth-of-type(3) { grid-column: auto; border: 0; border-left: 1px solid var(--line) }
  }
  @media (max-width: 900px) {
    body { grid-template-columns: 1fr; grid-auto-rows: minmax(45vh, 1fr); height: auto; min-height: 100vh }
    section + section { border: 0; border-top: 1px solid var(--line) }
  }
</style>
<header><b>crm-sheet-sync</b><span>Change something in the CRM or the sheet and watch the rest.</span><span id="status" role="status"></span></header>
${panesOf(stage)}
<script>
  const line = document.getElementById('status');
  const show = async () => {
    try {
      const { tabs, problems, budget } = await (await fetch('/status')).json();
      const sum = name => tabs.reduce((total, tab) => total + tab[name], 0);
      const waiting = [[sum('pending'), 'pending'], [sum('refused'), 'with an error'], [sum('conflicts'), 'in conflict'], [sum('held'), 'held']]
        .filter(([count]) => count > 0).map(([count, what]) => count + ' ' + what).join(', ');
      line.textContent = problems.length > 0 ? problems[0].message
        : sum('recordsInTable') + ' records in step' + (waiting ? ', ' + waiting : '') + '; ' + budget.taken + ' of ' + budget.requests + ' requests used in the last minute';
    } catch { line.textContent = 'The daemon does not answer.'; }
  };
  show();
  setInterval(show, 2000);
</script>
</html>
`;
