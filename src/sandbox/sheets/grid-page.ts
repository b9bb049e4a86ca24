import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { FastifyInstance } from 'fastify';

const SCRIPTS = [
  'grid.js',
  'grid-api.js',
  'grid-cells.js',
  'grid-clipboard.js',
  'grid-commands.js',
  'grid-changes.js',
  'grid-dialog.js',
  'grid-formula-bar.js',
  'grid-menu.js',
  'grid-table.js',
  'grid-tabs.js',
  'grid-warnings.js',
  'tsv.js',
];

/** The page's own files and the grid component's, each under a fixed path. */
export function registerGridPage(server: FastifyInstance): void {
  const fromPackage = createRequire(import.meta.url).resolve;
  const fromPage = (name: string) => new URL(`page/${name}`, import.meta.url).pathname;
  const shared = (name: string) => new URL(`../page/${name}`, import.meta.url).pathname;
  const files = {
    '/': { path: fromPage('grid.html'), type: 'text/html' },
    '/grid.css': { path: fromPage('grid.css'), type: 'text/css' },
    ...Object.fromEntries(
      SCRIPTS.map((name) => [`/${name}`, { path: fromPage(name), type: 'text/javascript' }]),
    ),
    '/flash.css': { path: shared('flash.css'), type: 'text/css' },
    '/flash.js': { path: shared('flash.js'), type: 'text/javascript' },
    '/tabulator.css': {
      path: fromPackage('tabulator-tables/dist/css/tabulator.min.css'),
      type: 'text/css',
    },
    '/tabulator.js': {
      path: fromPackage('tabulator-tables/dist/js/tabulator.min.js'),
      type: 'text/javascript',
    },
  };
  for (const [route, { path, type }] of Object.entries(files)) {
    server.get(route, (_request, reply) => reply.type(`${type}; charset=utf-8`).send(readFileSync(path)));
  }
}
