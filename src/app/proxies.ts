import http from 'node:http';
import https from 'node:https';
import process from 'node:process';
import type { PostText } from '../alerts/webhook.ts';
import { proxyFinder } from '../core/network/proxy.ts';
import { exchange } from '../crm/exchange.ts';

/** The proxy that the environment of this process names for an address. */
export const findProxy = proxyFinder(process.env);

/** Carries a request to the CRM, through a proxy where one is named. */
export const carry: typeof exchange = (request, deadline) => exchange(request, deadline, findProxy);

const agents = new Map<string, http.Agent>();

/** How an address is reached: straight, or through the proxy that is named for it. */
export function agentFor(url: URL): http.Agent {
  const proxy = findProxy(url)?.href;
  const { Agent, globalAgent } = url.protocol === 'https:' ? https : http;
  if (proxy === undefined) return globalAgent;
  const agent =
    agents.get(`${url.protocol} ${proxy}`) ??
    new Agent({ keepAlive: true, proxyEnv: { HTTPS_PROXY: proxy, HTTP_PROXY: proxy } });
  agents.set(`${url.protocol} ${proxy}`, agent);
  return agent;
}

/** Posts what alerts say, through a proxy where one is named. */
export const post: PostText = (url, text, headers, signal) => {
  const { request } = url.protocol === 'https:' ? https : http;
  const outgoing = request(url, {
    method: 'POST',
    headers: { ...headers, 'content-length': Buffer.byteLength(text) },
    agent: agentFor(url),
    signal,
  });
  const { promise, reject, resolve } = Promise.withResolvers<number>();
  outgoing.once('response', (incoming) => {
    resolve(incoming.statusCode ?? 0);
    incoming.destroy();
  });
  outgoing.once('error', reject);
  // A request that has no line yet does not say that it was given up, and one that was answered with 101 just ends.
  outgoing.once('close', () => reject(new Error('The connection was closed.')));
  signal.addEventListener('abort', () => reject(new Error('It was given up.')), { once: true });
  outgoing.end(text);
  return promise;
};
