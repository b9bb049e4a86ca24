import type { Sides } from './check.ts';

import { waitUntil } from './expect.ts';

const shownMax = 5;

/** Waits until every cell of every row is what the CRM's records say, and every record has its one row. */
export async function waitUntilSidesAgree({ sheet, crm }: Sides): Promise<void> {
  const timeZone = await sheet.readTimeZone();
  await waitUntil(async () => {
    const differences = compareSides(await sheet.look(), await crm.look(), timeZone);
    if (differences.length === 0) return undefined;
    return `${differences.length} differences, among them\n    ${differences.slice(0, shownMax).join('\n    ')}`;
  });
}
