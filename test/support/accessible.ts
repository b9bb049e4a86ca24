import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { z } from 'zod';

const findings = z.object({
  violations: z.array(
    z.object({
      id: z.string(),
      impact: z.string().nullable(),
      nodes: z.array(z.object({ html: z.string(), failureSummary: z.string().optional() })),
    }),
  ),
});

/** Nothing that axe calls serious or critical. */
export async function expectAccessible(page: Page): Promise<void> {
  // Not as an element of the page: its policy lets no script in but its own.
  const { default: axe } = await import('axe-core');
  await page.evaluate(axe.source);
  const { violations } = findings.parse(await page.evaluate('axe.run()'));
  expect(violations.filter(({ impact }) => impact === 'serious' || impact === 'critical')).toEqual([]);
}
