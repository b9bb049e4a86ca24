import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const readTest = (file: string): string => readFileSync(new URL(`../${file}`, import.meta.url), 'utf8');

/** Fails unless a title stands word for word in a test file, which is named by its path below `test/`. */
export function expectTitle(file: string, title: string): void {
  expect(readTest(file)).toContain(`'${title}'`);
}

export interface FaultTable {
  /** What can go wrong, by its number. */
  readonly faults: Readonly<Record<number, string>>;
  /** Files in which the title of a test, or its first part in a row of a table, begins with its fault, as `fault 7: `. */
  readonly scenarios: readonly string[];
  /** Tests in other files that hold a fault, by the number of the fault: what would be run here again adds nothing. */
  readonly elsewhere: readonly (readonly [number, file: string, title: string])[];
}

/** Tests that every fault of a table has a test, and that those elsewhere are still called so. */
export function testFaultTable({ faults, scenarios, elsewhere }: FaultTable): void {
  test.each(elsewhere)('fault %i is held by %s: “%s”', (_, file, title) => expectTitle(file, title));

  const own = scenarios.map(readTest).join();
  test.each(Object.entries(faults))('fault %s, “%s”, has a test', (number) => {
    const isHeldElsewhere = elsewhere.some(([held]) => held === Number(number));
    expect(isHeldElsewhere || own.includes(`'fault ${number}: `)).toBe(true);
  });
}
