import { test } from 'vitest';
import { pagingDays, spendADay } from '../support/dialect-days.ts';

const limit = { timeout: 60_000 };

test.each(pagingDays)('a CRM with %s is kept the same as its sheet for a day', limit, (_, choices) =>
  spendADay(choices),
);
