import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { FastifyInstance } from 'fastify';

/**
 * Nothing is loaded from elsewhere, nothing that stands in the page itself runs, and nobody frames it. What the CRM says can therefore do
 * nothing even where it would be shown wrongly.
 */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** Serves a page at the root, and what the pages are made of, from memory and each file under a fixed path. */
export function addPage(server: FastifyInstance, page: 'page.html' | 'links.html', version: string): void {
  const ofPage = (name: string) => new URL(`page/${name}`, import.meta.url);
  const scripts = readdirSync(ofPage('')).filter((name) => name.endsWith('.js'));
  const ofPackage = createRequire(import.meta.url).resolve;
  const files: readonly [route: string, file: string | URL, type: string][] = [
    ['/', ofPage(page), 'text/html'],
    ['/page/page.css', ofPage('page.css'), 'text/css'],
    ['/page/icon.svg', ofPage('icon.svg'), 'image/svg+xml'],
    ...scripts.map((name): [string, URL, string] => [`/page/${name}`, ofPage(name), 'text/javascript']),
    ['/page/uplot.js', ofPackage('uplot/dist/uPlot.esm.js'), 'text/javascript'],
    ['/page/uplot.css', ofPackage('uplot/dist/uPlot.min.css'), 'text/css'],
  ];
  for (const [route, file, type] of files) {
    const read = readFileSync(file);
    const content = type === 'text/html' ? read.toString().replace('{version}', version) : read;
    server.get(route, (_request, reply) =>
      reply.type(`${type}; charset=utf-8`).header('content-security-policy', policy).send(content),
    );
  }
}
