import { expect, test } from 'vitest';
import { planSteps } from '../../src/google/write/planned.ts';
import { type Cell, numberCell, textCell } from '../../src/sheet/port/cell.ts';
import { bind, gridOf } from '../support/leads-grid.ts';
import { setStep } from '../support/table-steps.ts';

test.each<[string, readonly Cell[], readonly boolean[]]>([
  ['are alone', [numberCell(1), numberCell(2), textCell('new-a')], [false, false, false]],
  ['are there twice as numbers', [numberCell(1), numberCell(2), numberCell(1)], [true, false, true]],
  [
    'are there as a number and as a text',
    [numberCell(1), textCell('1'), numberCell(11)],
    [true, true, false],
  ],
  [
    'are texts that are there twice',
    [textCell('new-a'), numberCell(1), textCell('new-a')],
    [true, false, true],
  ],
  [
    'are there as a number and in another format',
    [numberCell(7), { kind: 'number', number: 7, shown: '7.00' }, { kind: 'number', number: 8, shown: '7' }],
    [true, false, true],
  ],
])('a step says whether the ID of its row is shared where IDs %s', (_case, ids, shared) => {
  const tab = bind(gridOf(ids.map((id) => [id, textCell('Title')])));
  const steps = ids.map((id, index) => setStep(index + 1, id, { title: textCell('New') }));
  const planned = planSteps(steps, new Map([['lead', tab]]));
  expect(planned.map(({ isShared }) => isShared ?? false)).toEqual(shared);
});
