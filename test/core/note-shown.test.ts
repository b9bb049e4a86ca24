import { expect, test } from 'vitest';
import { type Agreement, emptyAgreement } from '../../src/core/state.ts';
import { noteShown } from '../../src/sheet/cells/shown.ts';
import { emptyCell } from '../../src/sheet/port/cell.ts';

test('what a cell showed is kept once, however often a value that it was agreed to show is offered again', () => {
  const field = { name: 'stage_id', header: 'Stage', kind: 'stage' } as const;
  const values = { stage_id: 1 };
  let agreement: Agreement = {
    ...emptyAgreement({ entity: 'opportunity', id: '7' }, 0),
    fields: values,
    offered: values,
    shown: { stage_id: [['Open', 1]] },
  };
  for (let look = 0; look < 12; look += 1) {
    const shown = noteShown(agreement, values, [{ field, cell: emptyCell, value: null }]);
    agreement = { ...agreement, ...(shown ? { shown } : {}) };
  }
  expect(agreement.shown).toEqual({ stage_id: [['Open', 1]] });
});
