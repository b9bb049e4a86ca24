import { test } from 'vitest';
import { shapeDays, spendADay } from '../support/dialect-days.ts';

const limit = { timeout: 60_000 };

test.each(shapeDays)('a CRM with %s is kept the same as its sheet for a day', limit, (_, choices) =>
  spendADay(choices),
);
