import { once } from 'node:events';
import http from 'node:http';
import https from 'node:https';
import process from 'node:process';
import type { PostText } from '../alerts/webhook.ts';
import { proxyFinder } from '../core/proxy.ts';
import { exchange } from '../crm/exchange.ts';

/** The proxy that the environment of this process names for an address. */
export const findProxy = proxyFinder(process.env);

/** Carries a request to the CRM, through a proxy where one is named. */
export const carry: typeof exchange = (request, deadline) => exchange(request, deadline, findProxy);

/** Posts what alerts say, through a proxy where one is named. */
export const post: PostText = async (url, text, headers, signal) => {
  const proxy = findProxy(url)?.href;
  const isEncrypted = url.protocol === 'https:';
  const proxyEnv = proxy && { [isEncrypted ? 'HTTPS_PROXY' : 'HTTP_PROXY']: proxy };
  const { Agent, request } = isEncrypted ? https : http;
  const outgoing = request(url, {
    method: 'POST',
    headers: { ...headers, 'content-length': Buffer.byteLength(text) },
    agent: new Agent(proxyEnv ? { proxyEnv } : {}),
    signal,
  });
  outgoing.end(text);
  const [incoming] = (await once(outgoing, 'response')) as [http.IncomingMessage];
  incoming.destroy();
  return incoming.statusCode ?? 0;
};
