import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { readFileSync, writeFileSync } from 'node:fs';
import type { FastifyInstance, RouteOptions } from 'fastify';
import { expect, onTestFinished, test } from 'vitest';
import { listSettings } from '../../src/app/tables.ts';
import { buildProgram } from '../../src/cli/program.ts';
import { startHttp } from '../../src/http/server.ts';
import { healthOf } from '../support/health.ts';
import { watchIdle } from '../support/idle-watch.ts';
import { openLinkStage } from '../support/link-stage.ts';
import { renderReference } from './reference.ts';

const file = new URL('../../src/manual/reference.md', import.meta.url);

/** Starts the HTTP side of a daemon, and reads from it what it serves. */
async function readHttp(): Promise<{ readonly routes: readonly string[]; readonly metrics: string }> {
  const { createEngine } = await openLinkStage({ leads: 1, opportunities: 1, tasks: 1 });
  const engine = createEngine();
  const routes: string[] = [];
  const noteRoute = ({ method, url }: RouteOptions) => {
    routes.push(...[method].flat().map((each) => `${each} ${url}`));
  };
  const watch = (message: unknown) => {
    (message as { fastify: FastifyInstance }).fastify.addHook('onRoute', noteRoute);
  };
  subscribe('fastify.initialization', watch);
  const http = await startHttp({
    host: '127.0.0.1',
    port: 0,
    version: '1.2.3',
    engine,
    health: healthOf(engine),
    backUp: () => 'backup.db',
    watch: watchIdle(engine),
  });
  unsubscribe('fastify.initialization', watch);
  onTestFinished(() => http.close());
  const metrics = await (await fetch(`${http.url}/metrics`)).text();
  return { routes, metrics };
}

test('the reference is what the code says: npm run reference writes it anew', async () => {
  const program = await buildProgram({ environment: {}, finish: () => undefined });
  const wanted = renderReference({ program, ...(await readHttp()) });
  if (process.env['UPDATE_REFERENCE']) writeFileSync(file, wanted);
  expect(readFileSync(file, 'utf8')).toBe(wanted);
});

test('every setting says what it means', () => {
  const silent = listSettings().filter(({ description }) => description === '');
  expect(silent.map(({ path }) => path)).toEqual([]);
});
