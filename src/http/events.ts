import { PassThrough } from 'node:stream';
import type { FastifyInstance, FastifyReply } from 'fastify';
import type { Sample } from '../core/reading/samples.ts';
import { type Bounds, patienceMs } from './bounds.ts';

export interface EventsOptions extends Bounds {
  /** The status as `/api/status` answers it. */
  readonly readWhole: () => object;
  /** Oldest first. */
  readonly readSamples: () => readonly Sample[];
}

/** Reading the status costs something, so many pages share one reading, and more pages than this are turned away. */
const clientsMax = 50;
/** Behind a proxy that is not trusted all have one address. */
const clientsPerAddressMax = 25;
const lookEveryMs = 1_000;
/** A look may take this part of the time at most: on a large mirror there are fewer of them. */
const lookPart = 0.05;

/** What goes with the clock alone, and is no news. */
const clockwork = new Set(['now', 'sweepAgeMs', 'recordAgeP95Ms', 'parkedMs', 'endsAt']);

interface Client {
  readonly address: string;
  readonly stream: PassThrough;
  readonly raw: FastifyReply['raw'];
  /** What is sent and may not be read yet. */
  unread?: { readonly bytes: number; readonly since: number; readonly giveBack: () => void };
  /** The status that was sent last. */
  status: string;
  /** The end of the newest sample that was sent. */
  sampledAt: number;
}

/**
 * Server-sent events for the page. `status` is the whole status, when it changed and at most once a second; `samples` are the samples that
 * the client does not have yet: the last hour at first, and then one every ten seconds, which also shows that the line is alive.
 */
export function addEventsRoute(server: FastifyInstance, options: EventsOptions): void {
  const clients = new Set<Client>();
  const closing = new AbortController();
  server.addHook('preClose', async () => {
    closing.abort();
    endAll(clients);
  });
  let isLooking = false;
  // Whoever asks for the head alone never reads a stream to its end: it would count as a page that is open for ever.
  server.get('/api/events', { exposeHeadRoute: false }, ({ ip: address }, reply) => {
    const own = [...clients].filter((client) => client.address === address).length;
    if (clients.size >= clientsMax || own >= clientsPerAddressMax)
      return reply.code(503).send({ error: 'Too many pages are open: close some of them.' });
    const news = readNews(options);
    const stream = new PassThrough();
    reply.type('text/event-stream; charset=utf-8').send(stream);
    const { raw } = reply;
    const client: Client = { address, stream, raw, status: '', sampledAt: Number.NEGATIVE_INFINITY };
    clients.add(client);
    stream.on('close', () => {
      client.unread?.giveBack();
      clients.delete(client);
    });
    tell(client, options, news);
    if (isLooking) return reply;
    isLooking = true;
    void lookOn(clients, options, closing.signal)
      // The mirror can not be read: whoever comes again is told so.
      .catch(() => endAll(clients))
      .finally(() => {
        isLooking = false;
      });
    return reply;
  });
}

const endAll = (clients: ReadonlySet<Client>): void => {
  for (const { stream } of clients) stream.end();
};

/** Looks for as long as somebody listens. */
async function lookOn(
  clients: ReadonlySet<Client>,
  options: EventsOptions,
  closing: AbortSignal,
): Promise<void> {
  const { clock } = options;
  let tookMs = 0;
  while (clients.size > 0 && !closing.aborted) {
    await clock.sleep(Math.max(lookEveryMs, tookMs / lookPart), closing);
    if (closing.aborted) return;
    const ready = [...clients].filter((client) => hasRead(client, options));
    if (ready.length === 0) continue;
    const begunAt = clock.monotonicMs();
    const news = readNews(options);
    tookMs = clock.monotonicMs() - begunAt;
    for (const client of ready) tell(client, options, news);
  }
}

type News = ReturnType<typeof readNews>;

function readNews({ readWhole }: EventsOptions) {
  const whole = readWhole();
  /** The status without what goes with the clock: equal when nothing happened. */
  const fingerprint = JSON.stringify(whole, (name, value) => (clockwork.has(name) ? undefined : value));
  return { fingerprint, text: JSON.stringify(whole) };
}

/** Sends a client what it does not know yet. */
function tell(client: Client, options: EventsOptions, { fingerprint, text }: News): void {
  const { stream } = client;
  if (stream.writableEnded) return;
  const samples = options.readSamples().filter(({ at }) => at > client.sampledAt);
  const parts: string[] = [];
  if (client.status !== fingerprint) parts.push(`event: status\ndata: ${text}\n\n`);
  if (samples.length > 0) parts.push(`event: samples\ndata: ${JSON.stringify(samples)}\n\n`);
  if (parts.length === 0) return;
  const content = Buffer.from(parts.join(''));
  const giveBack = options.room.take(content.length);
  if (!giveBack) return;
  client.unread = { bytes: content.length, since: options.clock.monotonicMs(), giveBack };
  stream.write(content);
  client.status = fingerprint;
  client.sampledAt = samples.at(-1)?.at ?? client.sampledAt;
}

/** Whether the client has taken what was sent before. One that reads slowly is sent the newest when it is ready again, or is cut off. */
function hasRead({ raw, stream, unread }: Client, { clock }: EventsOptions): boolean {
  if (!unread) return true;
  const waiting = stream.writableLength + stream.readableLength + raw.writableLength;
  if (waiting === 0) unread.giveBack();
  else if (clock.monotonicMs() - unread.since > patienceMs(unread.bytes)) raw.destroy();
  return waiting === 0;
}
