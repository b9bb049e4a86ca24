import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Grid } from '../../src/google/grid.ts';
import { observeTab, observeTabs, type TabReading } from '../../src/google/read.ts';
import { readTagged } from '../../src/google/tabs.ts';
import {
  booleanCell,
  type Cell,
  emptyCell,
  numberCell,
  spilledCell,
  textCell,
} from '../../src/sheet/port/cell.ts';
import type { TabKind } from '../../src/sheet/port/layout.ts';
import { gridOf, headers, leads } from '../support/leads-grid.ts';

const failing: Cell = { kind: 'error', message: 'Loading...', formula: '=ARRAYFORMULA(X2:X)' };
const plain: readonly Cell[] = [emptyCell, textCell('Acme'), numberCell(7), booleanCell(true)];
const rare: readonly Cell[] = [{ kind: 'number', number: 7, shown: '007' }, spilledCell, failing];

const cell = fc.oneof(
  { weight: 12, arbitrary: fc.constantFrom(...plain) },
  { weight: 1, arbitrary: fc.constantFrom(...rare) },
);
/** An ID, three fields, `Sync`, the column that pauses, and one of people's own. */
const row = fc.oneof(
  { weight: 6, arbitrary: fc.array(cell, { minLength: 7, maxLength: 7 }) },
  { weight: 1, arbitrary: cell.map((own) => [...Array.from({ length: 6 }, () => emptyCell), own]) },
  { weight: 1, arbitrary: fc.constant([]) },
);
const place = fc.nat({ max: 12 });
const change = fc.oneof(
  fc.record({ kind: fc.constant('set'), place, row }),
  fc.record({ kind: fc.constant('insert'), place, row }),
  fc.record({ kind: fc.constant('delete'), place, row }),
  fc.record({ kind: fc.constantFrom('swap', 'tag', 'reverse', 'copy'), place, row }),
);
type Change = typeof change extends fc.Arbitrary<infer Each> ? Each : never;

const header: readonly Cell[] = [...headers, textCell('Pause'), textCell('Note')];
/** The same with two columns in each other's place. */
const otherHeader = header.with(1, header[3] ?? emptyCell).with(3, header[1] ?? emptyCell);

type Rows = readonly (readonly Cell[])[];
const tags = [{ field: 'title', metadataId: 1, index: 1 }];

/** Rows that are not changed stay the same objects, as in the tabs that are kept. */
function applyToRows(rows: Rows, { kind, place: wanted, row: now }: Change): Rows {
  const [top = [], ...below] = rows;
  const at = wanted % Math.max(below.length, 1);
  switch (kind) {
    case 'swap':
      return [top === header ? otherHeader : header, ...below];
    case 'reverse':
      return [top, ...below.toReversed()];
    case 'copy':
      return [top, ...below, ...below.slice(at, at + 1)];
    case 'delete':
      return [top, ...below.toSpliced(at, 1)];
    default:
      return [top, ...below.toSpliced(at, kind === 'insert' ? 0 : 1, now)];
  }
}

function apply(grid: Grid, change: Change): Grid {
  if (change.kind === 'tag') return { ...grid, tags: grid.tags.length > 0 ? [] : tags };
  return { ...grid, rows: applyToRows(grid.rows, change) };
}

test('rows that were looked at before come to what they come to alone, whatever changed in between', () => {
  const layout = { ...leads, pauseHeader: 'Pause' };
  fc.assert(
    fc.property(
      fc.array(row, { maxLength: 12 }),
      fc.array(fc.array(change, { maxLength: 3 }), { maxLength: 8 }),
      (first, steps) => {
        let grid: Grid = { ...gridOf([]), rows: [header, ...first] };
        let before: TabReading | undefined;
        for (const changes of [[], ...steps]) {
          grid = changes.reduce(apply, grid);
          const [kept, alone] = [observeTab(grid, layout, before), observeTab(grid, layout)];
          expect(kept.observed).toEqual(alone.observed);
          expect(kept.bound).toEqual(alone.bound);
          before = kept;
        }
      },
    ),
    { numRuns: 500 },
  );
});

test('rows that did not change stay the same objects, and so does their list where none did', () => {
  const rows = [header, ...['Acme', 'Bolt', 'Crux'].map((title, n) => [numberCell(n), textCell(title)])];
  const before = observeTab({ ...gridOf([]), rows }, leads);
  const edited = rows.with(2, [numberCell(1), textCell('Bolt & Co')]);
  const after = observeTab({ ...gridOf([]), rows: edited }, leads, before);
  const kept = after.views?.observed.map((each, n) => each === before.views?.observed[n]);
  expect(kept).toEqual([true, false, true]);
  const same = observeTab({ ...gridOf([]), rows: edited.with(0, [...header]) }, leads, after);
  expect(same.views?.observed).toBe(after.views?.observed);
});

test('others get their turn while the many new rows of a read are looked at, and only then', () => {
  const owner = { spreadsheetId: 'test', account: 'test' };
  const readings = (rows: Rows, before?: ReadonlyMap<TabKind, TabReading>) => {
    const grids = [{ ...gridOf([]), rows }];
    const spreadsheet = { ...readTagged({}), grids };
    const work = observeTabs(spreadsheet, [leads], owner, 0, before && { readings: before, isAlike: true });
    for (let turns = 0; ; turns += 1) {
      const step = work.next();
      if (step.done) return { turns, found: step.value };
    }
  };
  const many = Array.from({ length: 5_000 }, (_, n) => [numberCell(n + 1), textCell(`Lead ${n}`)]);
  const first = readings([header, ...many]);
  expect(first.turns).toBeGreaterThan(2);
  const edited = many.with(7, [numberCell(8), textCell('Bolt & Co')]);
  const next = readings([header, ...edited], first.found);
  expect([next.turns, next.found.get('lead')?.views?.observed.length]).toEqual([0, 5_000]);
});
