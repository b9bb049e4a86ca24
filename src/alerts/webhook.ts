import { SyncError } from '../core/errors.ts';
import type { Clock } from '../core/ports.ts';
import type { Condition } from '../sync/conditions.ts';

/** A condition began or ended. */
export interface Alert {
  readonly event: 'began' | 'ended';
  /** The link it is about. */
  readonly link: string;
  /** As it was when it began. */
  readonly condition: Condition;
  /** Epoch ms; absent while it holds. */
  readonly endedAt?: number;
}

export interface WebhookOptions {
  readonly url: string;
  /** What the messages begin with. */
  readonly title: string;
  readonly clock: Clock;
}

/** Tells of an alert; rejects when it was not taken. */
export type SendAlert = (alert: Alert, stopping: AbortSignal) => Promise<void>;

/** Longest time the receiver may take. */
const timeoutMs = 10_000;

/**
 * Makes a sender that posts alerts as JSON. `text` is what Slack and its like show; the other fields are for machines. Fails with
 * ALERT_UNSENT, which never names the address: that often carries a token.
 */
export function createWebhook({ clock, title, url }: WebhookOptions): SendAlert {
  return async (alert, stopping) => {
    const deadline = new AbortController();
    const isOver = new AbortController();
    void clock.sleep(timeoutMs, isOver.signal).then(() => deadline.abort());
    try {
      const { address, login } = takeLogin(url);
      const { body, status } = await fetch(address, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...login },
        body: JSON.stringify(describeAlert(alert, title)),
        // It would carry what is told elsewhere.
        redirect: 'manual',
        signal: AbortSignal.any([deadline.signal, stopping]),
      });
      await body?.cancel();
      if (status < 200 || status > 299)
        throw new SyncError('ALERT_UNSENT', `The receiver answered ${status}.`);
    } catch (error) {
      if (error instanceof SyncError) throw error;
      const reason = deadline.signal.aborted ? `no answer within ${timeoutMs / 1_000} s` : codeOf(error);
      throw new SyncError('ALERT_UNSENT', `The receiver is not reached: ${reason}.`);
    } finally {
      isOver.abort();
    }
  };
}

/** `fetch` takes no address with a name and a password in it. */
function takeLogin(url: string) {
  const address = new URL(url);
  const { password, username } = address;
  if (username === '' && password === '') return { address: url, login: {} };
  address.username = '';
  address.password = '';
  const words = Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`);
  return { address: address.href, login: { authorization: `Basic ${words.toString('base64')}` } };
}

function describeAlert({ condition, endedAt, event, link }: Alert, title: string) {
  const { makes, name, words } = condition;
  const since = new Date(condition.since).toISOString();
  const ended = endedAt === undefined ? {} : { endedAt: new Date(endedAt).toISOString() };
  const text =
    event === 'began'
      ? `${title}: ${name} since ${since}: ${words}`
      : `${title}: ${name} is over. It began ${since}.`;
  return { text: escapeText(text), event, link, condition: { name, since, words, makes }, ...ended };
}

/** Slack takes these for its own marks: https://docs.slack.dev/messaging/formatting-message-text/#escaping */
const escapeText = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/** `fetch` fails with the reason one level below. */
function codeOf(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof Error && 'code' in cause ? String(cause.code) : 'no answer';
}
