import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface ReceivedRequest {
  readonly method: string;
  /** Path and query. */
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  /** How many came before it. */
  readonly index: number;
}

/** A real HTTP server that does to each request what a test says. */
export interface ScriptedServer {
  readonly baseUrl: string;
  readonly requests: readonly ReceivedRequest[];
  /** Connections that were made to it. */
  connectionCount(): number;
  /** Resolves once so many requests have arrived in full. */
  arrived(count: number): Promise<void>;
  close(): Promise<void>;
}

export type Script = (response: ServerResponse, request: ReceivedRequest) => void;

/** Starts the server on a free port of this machine. */
export async function startScriptedServer(script: Script): Promise<ScriptedServer> {
  const requests: ReceivedRequest[] = [];
  const watchers = new Set<() => void>();
  let connections = 0;
  const server = createServer(async (incoming, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk);
    const { method = '', url = '', headers } = incoming;
    const body = Buffer.concat(chunks).toString();
    const request = { method, url, headers, body, index: requests.length };
    requests.push(request);
    script(response, request);
    for (const look of watchers) look();
  });
  server.on('connection', () => {
    connections += 1;
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    baseUrl: `http://127.0.0.1:${port}`,
    requests,
    connectionCount: () => connections,
    arrived: (count) =>
      new Promise((resolve) => {
        const look = () => {
          if (requests.length < count) return;
          watchers.delete(look);
          resolve();
        };
        watchers.add(look);
        look();
      }),
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** Answers with a status and a JSON body. */
export function answerJson(response: ServerResponse, status: number, json: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(json));
}

/** Answers as the CRM does when it did what was asked. */
export const answerSuccess = (response: ServerResponse, content: unknown, status = 200): void =>
  answerJson(response, status, { http_code: status, status: 'success', message: 'Done', data: content });

/** Answers as the CRM does when it did not. */
export const answerFailure = (response: ServerResponse, status: number, message: string): void =>
  answerJson(response, status, { http_code: status, status: 'failed', message });
