import { readFile } from 'node:fs/promises';
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { faultOrder } from './faults.ts';
import type { CrmModel } from './model.ts';

/** Bodies arrive as text, see the server. */
const jsonText = z.string().transform((text, context): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    context.addIssue({ code: 'custom', message: 'The body is not JSON' });
    return z.NEVER;
  }
});

/** What the page and tests send to do by hand what the API also offers. */
const handRequest = z.object({
  method: z.enum(['GET', 'POST', 'PUT', 'DELETE']),
  path: z.string(),
  body: z.record(z.string(), z.unknown()).default({}),
});

/** Body of a 400: what could not be understood, in words. */
const unreadable = (error: z.ZodError) => ({ error: z.prettifyError(error) });

const pageFiles = {
  '/': ['page/page.html', 'text/html; charset=utf-8'],
  '/page.css': ['page/page.css', 'text/css; charset=utf-8'],
  '/columns.js': ['page/columns.js', 'text/javascript; charset=utf-8'],
  '/page.js': ['page/page.js', 'text/javascript; charset=utf-8'],
  '/flash.css': ['../page/flash.css', 'text/css; charset=utf-8'],
  '/flash.js': ['../page/flash.js', 'text/javascript; charset=utf-8'],
} as const;

/**
 * Adds the routes beside the API, which need no key and use no budget:
 * the page, and `/__sandbox/` with `records`, `usage`, `requests`, `faults` and `by-hand`.
 */
export async function addControlRoutes(
  server: FastifyInstance,
  model: CrmModel,
  clock: () => number,
): Promise<void> {
  for (const [path, [file, type]] of Object.entries(pageFiles)) {
    const text = await readFile(new URL(file, import.meta.url), 'utf8');
    server.get(path, (_request, reply) =>
      reply
        .header('content-security-policy', "default-src 'self'; img-src 'self' data:")
        .type(type)
        .send(text),
    );
  }
  server.get('/__sandbox/usage', () => model.usage());
  server.get('/__sandbox/requests', () => model.requests());
  server.get('/__sandbox/faults', () => model.faults.pending());
  server.get('/__sandbox/records', (request, reply) => {
    const tag = `"${model.revision}"`;
    reply.header('etag', tag).header('cache-control', 'no-cache');
    if (request.headers['if-none-match'] === tag) return reply.code(304).send();
    return reply.send(snapshotOf(model));
  });
  server.post('/__sandbox/faults', (request, reply) => {
    const order = jsonText.pipe(faultOrder).safeParse(request.body);
    if (!order.success) return reply.code(400).send(unreadable(order.error));
    model.faults.order(order.data);
    return reply.send(model.faults.pending());
  });
  server.post('/__sandbox/by-hand', (request, reply) => {
    const asked = jsonText.pipe(handRequest).safeParse(request.body);
    if (!asked.success) return reply.code(400).send(unreadable(asked.error));
    const { method, path, body } = asked.data;
    const answer = model.applyByHand(clock(), { method, path, body: JSON.stringify(body) });
    return reply.code(answer.status).send(answer.body);
  });
}

/** Everything the CRM holds. `trash` has what was moved there. */
export function snapshotOf(model: CrmModel) {
  const { leads, opportunities, tasks, contacts, leadStatuses, pipelines, customFields, members } =
    model.records;
  return {
    leads: leads.live(),
    opportunities: opportunities.live(),
    tasks: tasks.live(),
    contacts: Object.fromEntries([...contacts].map(([leadId, byId]) => [leadId, [...byId.values()]])),
    trash: {
      leads: leads.trashed(),
      opportunities: opportunities.trashed(),
      tasks: tasks.trashed(),
    },
    leadStatuses,
    pipelines,
    customFields,
    members,
  };
}
