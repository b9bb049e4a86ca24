import { Socket } from 'node:net';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Client, type ClientBase, type ClientConfig, type CustomTypesConfig, type QueryConfig } from 'pg';
import { from as copyFrom, to as copyTo } from 'pg-copy-streams';
import type { Clock, Log } from '../core/ports.ts';
import type { Address } from './address.ts';
import { isLineTrouble, warehouseError } from './errors.ts';

/** A row as text, by column: numbers, dates and times keep every digit. */
export type Row = Readonly<Record<string, string | null>>;
export type Parameter = string | null | readonly string[];

/** A connection while it is used. What its calls throw is as the library throws it. */
export interface Session {
  /** The client itself, for what has to be done by it. */
  readonly client: ClientBase;
  /** One unnamed statement: a named one would be lost behind a pooler. */
  run(text: string, values?: readonly Parameter[]): Promise<readonly Row[]>;
  /** Several statements without values in one message, which are one transaction unless they say otherwise. Returns the rows of the last. */
  runTogether(text: string): Promise<readonly Row[]>;
  /** Ends the transaction. Fails unless the server says that it was committed. */
  commit(waitMs: number): Promise<void>;
  /** Sends lines in the text form of COPY, in pieces that are taken as the server takes them. */
  copyIn(text: string, pieces: Iterable<string>): Promise<void>;
  /** Reads what a COPY sends, in pieces that end anywhere. */
  copyOut(text: string): AsyncIterable<Buffer>;
  /** Gives the connection up: its state is not known. */
  discard(): void;
}

export interface Connection {
  readonly place: string;
  /** Does the work on the connection, which is made anew where there is none: one work after the other. Fails with WAREHOUSE_ codes. */
  use<Result>(action: string, work: (session: Session) => Promise<Result>): Promise<Result>;
  /** Ends the connection; the next use makes a new one. */
  drop(): Promise<void>;
}

const connectTimeoutMs = 10_000;
const keepAliveAfterMs = 30_000;
/** The server ends a statement sooner; this is for a line that has fallen silent. */
const answerTimeoutMs = 90_000;
/** So long a server has to confirm that a connection ends; on a line that has fallen silent nothing ever does. */
const endTimeoutMs = 2_000;

/** All columns as text, whatever their type: so no number is read through a float, and no date through a time zone. */
const asText = { getTypeParser: () => (text: string | Buffer) => text.toString() } as CustomTypesConfig;

interface TimedQuery extends QueryConfig {
  readonly query_timeout: number;
}

/** One connection to a database that is made when it is needed, and dropped after any trouble with it. */
export function createConnection(address: Address, clock: Clock, log: Log): Connection {
  let line: Line | undefined;
  let last: Promise<unknown> = Promise.resolve();

  const drop = async () => {
    const old = line;
    line = undefined;
    await old?.end();
  };

  const connect = async (): Promise<Line> => {
    const fresh = await openLine(address, clock, { query_timeout: answerTimeoutMs });
    // A loss between two calls is found by the next one, which connects anew.
    for (const event of ['error', 'end'] as const)
      fresh.client.on(event, () => {
        if (line === fresh) line = undefined;
      });
    log.debug('warehouse.connected', { place: address.place });
    line = fresh;
    return fresh;
  };

  const work = async <Result>(action: string, task: (session: Session) => Promise<Result>) => {
    try {
      return await task(sessionOf((line ?? (await connect())).client, clock, () => void drop()));
    } catch (error) {
      if (isLineTrouble(error)) void drop();
      throw warehouseError(error, `${action} the ${address.place}`);
    }
  };

  return {
    place: address.place,
    use(action, task) {
      const result = last.then(() => work(action, task));
      last = result.catch(() => undefined);
      return result;
    },
    drop,
  };
}

/** A session of its own, for what takes long. Fails as the library does. */
export async function openSession(address: Address, clock: Clock): Promise<Session & AsyncDisposable> {
  const { client, end } = await openLine(address, clock);
  return { ...sessionOf(client, clock, () => void end()), [Symbol.asyncDispose]: end };
}

/** A client that is connected. */
interface Line {
  readonly client: Client;
  /** Ends the connection, also where the server says nothing to that. */
  end(): Promise<void>;
}

async function openLine(address: Address, clock: Clock, config: ClientConfig = {}): Promise<Line> {
  const socket = new Socket();
  const client = new Client({
    ...address.readConfig(),
    ...config,
    stream: () => socket,
    application_name: 'crm-sheet-sync',
    connectionTimeoutMillis: connectTimeoutMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: keepAliveAfterMs,
    types: asText,
  });
  const end = () => within(endTimeoutMs, clock, client.end(), () => socket.destroy());
  // Whatever is lost while nothing is asked shows when something is; without a listener it would end the program.
  client.on('error', () => undefined);
  try {
    await client.connect();
  } catch (error) {
    void end();
    if (error instanceof Error) error.message = address.hide(error.message);
    throw error;
  }
  return { client, end };
}

/** Waits for the result, and does what ends the waiting where it takes longer than the time. */
async function within<Result>(
  limitMs: number,
  clock: Clock,
  result: Promise<Result>,
  cut: () => unknown,
): Promise<Result> {
  const over = new AbortController();
  void clock.sleep(limitMs, over.signal).then(() => over.signal.aborted || cut());
  return result.finally(() => over.abort());
}

function sessionOf(client: Client, clock: Clock, discard: () => void): Session {
  const query = (config: Pick<QueryConfig, 'text' | 'values'>, waitMs = answerTimeoutMs) => {
    const timed: TimedQuery = { ...config, query_timeout: waitMs };
    return client.query<Row>(timed);
  };
  return {
    client,
    async run(text, values = []) {
      return (await query({ text, values: [...values] })).rows;
    },
    async runTogether(text) {
      const results: unknown = await query({ text });
      const final: unknown = Array.isArray(results) ? results.at(-1) : results;
      return (final as { readonly rows: readonly Row[] }).rows;
    },
    async commit(waitMs) {
      const { command } = await query({ text: 'COMMIT' }, waitMs);
      if (command !== 'COMMIT') throw new Error(`the server answered COMMIT with ${command}`);
    },
    copyIn: (text, pieces) =>
      pipeline(
        Readable.from(pieces),
        client.query(Object.assign(copyFrom(text), { query_timeout: answerTimeoutMs })),
      ),
    copyOut: (text) => piecesOf(client.query(copyTo(text)), clock),
    discard,
  };
}

/** Fails where a piece does not come in time; how long a reader takes for each is its own matter. */
async function* piecesOf(copy: Readable, clock: Clock): AsyncGenerator<Buffer> {
  const pieces = copy[Symbol.asyncIterator]();
  const cut = () => copy.destroy(new Error('the server sends nothing more'));
  try {
    for (;;) {
      const { done, value } = await within(answerTimeoutMs, clock, pieces.next(), cut);
      if (done) return;
      yield value;
    }
  } finally {
    copy.destroy();
  }
}
