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

/** The forms of what is posted: fields for machines with a text that Slack shows, that text alone, and a card of Microsoft Teams. */
export const alertFormats = ['json', 'slack', 'teams'] as const;
export type AlertFormat = (typeof alertFormats)[number];

export interface WebhookOptions {
  readonly url: string;
  readonly format?: AlertFormat;
  /** What the messages begin with. */
  readonly title: string;
  readonly clock: Clock;
  readonly post: PostText;
}

/** Posts a text and returns the status of the answer. Follows no redirect: the text would go elsewhere. */
export type PostText = (
  url: URL,
  text: string,
  headers: Readonly<Record<string, string>>,
  signal: AbortSignal,
) => Promise<number>;

/** Tells of an alert; rejects when it was not taken. */
export type SendAlert = (alert: Alert, stopping: AbortSignal) => Promise<void>;

/** Longest time the receiver may take. */
const timeoutMs = 10_000;

/** Makes a sender that posts alerts. Fails with ALERT_UNSENT, which never names the address: that often carries a token. */
export function createWebhook({ clock, format = 'json', post, title, url }: WebhookOptions): SendAlert {
  return async (alert, stopping) => {
    const deadline = new AbortController();
    const isOver = new AbortController();
    void clock.sleep(timeoutMs, isOver.signal).then(() => deadline.abort());
    try {
      const { address, login } = takeLogin(url);
      const text = JSON.stringify(bodies[format](alert, wordsOf(alert, title)));
      const headers = { 'content-type': 'application/json', ...login };
      const status = await post(address, text, headers, AbortSignal.any([deadline.signal, stopping]));
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

/** What an address says of a login goes in a header. */
function takeLogin(url: string) {
  const address = new URL(url);
  const { password, username } = address;
  if (username === '' && password === '') return { address, login: {} };
  address.username = '';
  address.password = '';
  const words = Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`);
  return { address, login: { authorization: `Basic ${words.toString('base64')}` } };
}

function wordsOf({ condition, event }: Alert, title: string): string {
  const { name, words } = condition;
  const since = new Date(condition.since).toISOString();
  return event === 'began'
    ? `${title}: ${name} since ${since}: ${words}`
    : `${title}: ${name} is over. It began ${since}.`;
}

const bodies: Readonly<Record<AlertFormat, (alert: Alert, words: string) => object>> = {
  json: ({ condition, endedAt, event, link }, words) => ({
    text: escapeText(words),
    event,
    link,
    condition: { ...pickCondition(condition), since: new Date(condition.since).toISOString() },
    ...(endedAt === undefined ? {} : { endedAt: new Date(endedAt).toISOString() }),
  }),
  slack: (_alert, words) => ({ text: escapeText(words) }),
  // https://learn.microsoft.com/en-us/microsoftteams/platform/webhooks-and-connectors/how-to/connectors-using
  teams: (_alert, words) => ({
    type: 'message',
    attachments: [
      {
        contentType: 'application/vnd.microsoft.card.adaptive',
        content: {
          $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
          type: 'AdaptiveCard',
          version: '1.2',
          // Other blocks read the signs of Markdown in it.
          body: [{ type: 'RichTextBlock', inlines: [{ type: 'TextRun', text: words }] }],
        },
      },
    ],
  }),
};

const pickCondition = ({ makes, name, words }: Condition) => ({ name, words, makes });

/** Slack takes these for its own marks: https://docs.slack.dev/messaging/formatting-message-text/#escaping */
const escapeText = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error ? String(error.code) : 'no answer';
