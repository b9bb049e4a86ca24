import { Alerts } from '../alerts/alerts.ts';
import { createWebhook } from '../alerts/webhook.ts';
import type { Log } from '../core/ports.ts';
import { systemClock } from './clock.ts';
import { linkNameOf } from './link.ts';
import type { Settings } from './settings.ts';

/** Tells the receiver that the settings of a link name, if they name one. */
export function createAlerts(settings: Settings, log: Log): Alerts | undefined {
  const { webhookUrl: url } = settings.alerts;
  if (url === undefined) return undefined;
  const title = settings.link ? `crm-sheet-sync ${settings.link.name}` : 'crm-sheet-sync';
  const send = createWebhook({ url, title, clock: systemClock });
  return new Alerts({ link: linkNameOf(settings), send, clock: systemClock, log, random: Math.random });
}
