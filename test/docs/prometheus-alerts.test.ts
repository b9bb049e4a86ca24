import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';

const read = (file: string) => readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8');

const rulesShape = z.strictObject({
  groups: z.array(
    z.strictObject({
      name: z.string(),
      rules: z.array(
        z.strictObject({
          alert: z.string(),
          expr: z.string(),
          for: z.string().optional(),
          labels: z.strictObject({ severity: z.enum(['critical', 'warning', 'info']) }),
          annotations: z.strictObject({ summary: z.string(), description: z.string() }),
        }),
      ),
    }),
  ),
});

const { groups } = rulesShape.parse(parse(read('config/prometheus-alerts.yaml')));
const rules = groups.flatMap((group) => group.rules);

test('alert rules for Prometheus name metrics and labels that there are', () => {
  const reference = read('src/manual/reference.md');
  const metrics = new Set(reference.match(/(?<=^\| `)crm_sheet_sync_\w+/gm));
  const outcomes = read('src/http/metrics.ts').match(/(?<=outcome: ')\w+/g);
  const named = rules.flatMap(({ expr }) => expr.match(/crm_sheet_sync_\w+/g) ?? []);
  expect(named.filter((name) => !metrics.has(name))).toEqual([]);
  expect(named.length).toBeGreaterThanOrEqual(rules.length - 1);
  const labels = rules.flatMap(({ expr }) => expr.match(/(?<=outcome=")\w+/g) ?? []);
  expect(labels.filter((label) => !outcomes?.includes(label))).toEqual([]);
  expect(new Set(rules.map(({ alert }) => alert)).size).toBe(rules.length);
});
