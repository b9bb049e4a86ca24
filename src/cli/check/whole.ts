import type { Sides } from './check.ts';
import { waitUntil } from './expect.ts';
import { compareSides } from './expected-rows.ts';

const shownMax = 5;

/** Waits until every cell of every row is what the CRM's records say, and every record has its one row. */
export async function waitUntilSidesAgree({ sheet, crm }: Sides): Promise<void> {
  const timeZone = await sheet.readTimeZone();
  await waitUntil(async () => {
    const differences = compareSides(await sheet.look(), await crm.look(), timeZone);
    if (differences.length === 0) return undefined;
    const shown = differences.slice(0, shownMax).join('\n    ');
    return `${differences.length} differences between the sides, the first:\n    ${shown}\n   `;
  });
}
