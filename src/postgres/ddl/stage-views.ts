import type { ViewDefinition } from './definition.ts';
import { historyNameOf } from './history-views.ts';
import { qualified } from './quote.ts';
import { viewColumn } from './view-column.ts';

const name = 'stage_history';

/** Versions that follow one another and have the same stage are one visit of it; it ends with the record, also with one that comes back. */
export const stageHistory = (schema: string): ViewDefinition => ({
  name,
  entity: 'opportunity',
  with: `WITH version AS (
  SELECT id, stage_id, valid_from, valid_after, valid_until,
         lag(ended) OVER w IS DISTINCT FROM 'changed' OR lag(stage_id) OVER w IS DISTINCT FROM stage_id AS is_new
    FROM ${qualified(schema, historyNameOf('opportunity'))} WINDOW w AS (PARTITION BY id ORDER BY valid_from)
), numbered AS (
  SELECT *, count(*) FILTER (WHERE is_new) OVER (PARTITION BY id ORDER BY valid_from) AS visit FROM version
)`,
  columns: [
    viewColumn('opportunity_id', 'n.id'),
    viewColumn('stage_id', 'n.stage_id'),
    viewColumn('entered_at', 'min(n.valid_from)'),
    viewColumn('entered_after', 'min(n.valid_after) FILTER (WHERE n.is_new)'),
    viewColumn('left_at', 'CASE WHEN bool_or(n.valid_until IS NULL) THEN NULL ELSE max(n.valid_until) END'),
  ],
  sources: ['FROM numbered n GROUP BY n.id, n.visit, n.stage_id'],
  comment:
    'Which stages each opportunity was in. It entered after entered_after, and not after entered_at; left_at is empty for the stage of now.',
});

/** Each visit of a stage with the one of another that followed it. Where no stage is known is none. */
const movesSql = (schema: string): string => `WITH visit AS (
  SELECT stage_id AS from_id, lead(stage_id) OVER w AS to_id, entered_at, lead(entered_at) OVER w AS moved_at
    FROM ${qualified(schema, name)} WHERE stage_id IS NOT NULL WINDOW w AS (PARTITION BY opportunity_id ORDER BY entered_at)
), move AS (
  SELECT * FROM visit WHERE from_id <> to_id
)`;

export const stageConversion = (schema: string): ViewDefinition => ({
  name: 'stage_conversion',
  entity: 'opportunity',
  with: movesSql(schema),
  columns: [
    viewColumn('from_stage_id', 'm.from_id'),
    viewColumn('from_stage_name', 'f.name'),
    viewColumn('to_stage_id', 'm.to_id'),
    viewColumn('to_stage_name', 's.name'),
    viewColumn('moves', 'count(*)'),
    viewColumn(
      'median_days',
      'percentile_cont(0.5) WITHIN GROUP (ORDER BY extract(epoch FROM m.moved_at - m.entered_at)::float8 / 86400)',
    ),
  ],
  sources: [
    `FROM move m
LEFT JOIN ${qualified(schema, 'stage')} f ON f.id = m.from_id
LEFT JOIN ${qualified(schema, 'stage')} s ON s.id = m.to_id
GROUP BY m.from_id, f.name, m.to_id, s.name`,
  ],
  comment: 'How often opportunities went from one stage to another, and after how many days in the middle.',
});

export const winRate = (schema: string): ViewDefinition => ({
  name: 'win_rate',
  entity: 'opportunity',
  with: movesSql(schema),
  columns: [
    viewColumn('pipeline_id', 's.pipeline_id'),
    viewColumn('pipeline_name', 'p.name'),
    viewColumn('month', "date_trunc('month', m.moved_at AT TIME ZONE 'UTC')::date"),
    viewColumn('won', "count(*) FILTER (WHERE s.outcome = 'won')"),
    viewColumn('lost', "count(*) FILTER (WHERE s.outcome = 'lost')"),
    viewColumn('win_rate', "round(count(*) FILTER (WHERE s.outcome = 'won')::numeric / count(*), 4)"),
  ],
  sources: [
    `FROM move m
JOIN ${qualified(schema, 'stage')} f ON f.id = m.from_id AND f.outcome = 'open'
JOIN ${qualified(schema, 'stage')} s ON s.id = m.to_id AND s.outcome IN ('won', 'lost')
LEFT JOIN ${qualified(schema, 'pipeline')} p ON p.id = s.pipeline_id
GROUP BY s.pipeline_id, p.name, date_trunc('month', m.moved_at AT TIME ZONE 'UTC')::date`,
  ],
  comment:
    'Of the opportunities that were won or lost in a month (by UTC), by pipeline: how many of each, and the share that was won.',
});
