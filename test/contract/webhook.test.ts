import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, createServer as createLine, type Server } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import type { Alert, AlertFormat } from '../../src/alerts/webhook.ts';
import { createWebhook } from '../../src/alerts/webhook.ts';
import { post } from '../../src/app/proxies.ts';
import { findFreePort } from '../support/free-port.ts';
import { realClock } from '../support/real-clock.ts';
import { type Script, startScriptedServer } from '../support/scripted-server.ts';

const condition = {
  name: 'SWEEP_LATE',
  since: Date.UTC(2026, 10, 21, 10, 22),
  words: 'Not read: <Leads> & Tasks.',
  makes: 'notReady',
} as const;
const began: Alert = { event: 'began', link: 'north', condition };

async function openReceiver(script: Script) {
  const server = await startScriptedServer(script);
  onTestFinished(() => server.close());
  return server;
}

const sendTo = (
  url: string,
  alert: Alert,
  format: AlertFormat = 'json',
  stopping = new AbortController().signal,
): Promise<void> =>
  createWebhook({ url, title: 'crm-sheet-sync', clock: realClock, post, format })(alert, stopping);

test('an alert is a text that Slack shows as it is meant, and fields for machines', async () => {
  const receiver = await openReceiver((response) => response.end('ok'));
  await sendTo(`${receiver.baseUrl}/hook`, began);
  await sendTo(`${receiver.baseUrl}/hook`, { ...began, event: 'ended', endedAt: Date.UTC(2026, 10, 21, 11) });
  const since = '2026-11-21T10:22:00.000Z';
  const facts = { link: 'north', condition: { ...condition, since } };
  expect(receiver.requests.map(({ body }) => JSON.parse(body))).toEqual([
    {
      ...facts,
      event: 'began',
      text: `crm-sheet-sync: SWEEP_LATE since ${since}: Not read: &lt;Leads&gt; &amp; Tasks.`,
    },
    {
      ...facts,
      event: 'ended',
      text: `crm-sheet-sync: SWEEP_LATE is over. It began ${since}.`,
      endedAt: '2026-11-21T11:00:00.000Z',
    },
  ]);
  expect(receiver.requests[0]?.headers['content-type']).toBe('application/json');
});

test('Slack and Teams get what they show, with no sign in it that they would read', async () => {
  const receiver = await openReceiver((response) => response.end('ok'));
  await sendTo(receiver.baseUrl, began, 'slack');
  await sendTo(receiver.baseUrl, began, 'teams');
  const words = 'crm-sheet-sync: SWEEP_LATE since 2026-11-21T10:22:00.000Z: Not read: <Leads> & Tasks.';
  const [slack, teams] = receiver.requests.map(({ body }) => JSON.parse(body));
  expect(slack).toEqual({ text: words.replace('<Leads> &', '&lt;Leads&gt; &amp;') });
  expect(teams).toMatchObject({
    type: 'message',
    attachments: [
      {
        contentType: 'application/vnd.microsoft.card.adaptive',
        content: {
          type: 'AdaptiveCard',
          body: [{ type: 'RichTextBlock', inlines: [{ type: 'TextRun', text: words }] }],
        },
      },
    ],
  });
});

test('a name and a password in the address are sent as a login, and not as a part of the address', async () => {
  const receiver = await openReceiver((response) => response.end('ok'));
  await sendTo(receiver.baseUrl.replace('://', '://alerts:p%40ss@'), began);
  expect(receiver.requests.map(({ headers }) => headers.authorization)).toEqual([
    `Basic ${btoa('alerts:p@ss')}`,
  ]);
  await sendTo(receiver.baseUrl, began);
  expect(receiver.requests[1]?.headers).not.toHaveProperty('authorization');
});

test('a redirect is not followed: it would carry what is told elsewhere', async () => {
  const elsewhere = await openReceiver((response) => response.end());
  const receiver = await openReceiver((response) =>
    response.writeHead(307, { location: elsewhere.baseUrl }).end(),
  );
  await expect(sendTo(receiver.baseUrl, began)).rejects.toMatchObject({
    code: 'ALERT_UNSENT',
    message: 'The receiver answered 307.',
  });
  expect(elsewhere.requests).toEqual([]);
});

test('what fails never names the address, which often carries a token', async () => {
  const refusing = await openReceiver((response) => response.writeHead(403).end('a-token is unknown'));
  for (const url of [`${refusing.baseUrl}/a-token`, `http://127.0.0.1:${await findFreePort()}/a-token`]) {
    const error = await sendTo(url, began).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: 'ALERT_UNSENT' });
    expect(String(error)).not.toContain('a-token');
  }
});

async function listen(server: Server): Promise<string> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test('a receiver of alerts that says something else than an answer, or nothing until the stop, holds nothing up', async () => {
  const switching = createServer().on('upgrade', (_request, socket) => socket.destroy());
  switching.on('request', (_request, response) => response.writeHead(101).end());
  await expect(sendTo(await listen(switching), began)).rejects.toMatchObject({ code: 'ALERT_UNSENT' });
  const lines: { destroy(): void }[] = [];
  const silent = await listen(createLine((socket) => lines.push(socket)));
  const stop = new AbortController();
  const sent = sendTo(silent, began, 'json', stop.signal);
  await expect.poll(() => lines.length).toBe(1);
  stop.abort();
  await expect(sent).rejects.toMatchObject({ code: 'ALERT_UNSENT' });
  for (const line of lines) line.destroy();
});
