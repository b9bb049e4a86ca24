import { isUnfilled } from '../../sheet/port/cell.ts';
import type { Sent } from './batch.ts';
import type { Moment } from './judge.ts';
import { meetColumns } from './met-columns.ts';
import type { Batch, PlannedStep, Row, Tabs } from './planned.ts';
import { findMet } from './read-back.ts';

/** What is known of the moment in which a batch landed. `tabs` are those that it was planned from. */
export function momentOf(batch: Batch, sent: Sent, tabs: Tabs, others: readonly PlannedStep[]): Moment {
  const rows = new Map<number, Row>();
  for (const step of batch.steps) {
    const { entity, kind, number } = step;
    const [tab, headers] = [batch.tabs.get(entity), sent.headers.get(entity)];
    const [kept, after] = [sent.rows.get(number), sent.after.get(number)];
    if (!tab || !headers || kind === 'append' || sent.refused.has(number)) continue;
    const isKept = kept?.some((cell) => !isUnfilled(cell)) && !sent.uncopied.has(entity);
    if (isKept || !after) rows.set(number, kept ?? []);
    else
      rows.set(number, findMet(step, meetColumns(tab, headers), tabs.get(entity)?.rows ?? [], after) ?? []);
  }
  return { headers: sent.headers, rows, refused: sent.refused, others };
}
