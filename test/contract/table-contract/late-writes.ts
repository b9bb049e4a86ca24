import { describe, expect, test } from 'vitest';
import type { Receipt } from '../../../src/core/open-write.ts';
import { textCell } from '../../../src/sheet/port/cell.ts';
import type { WriteResult } from '../../../src/sheet/port/table.ts';
import type { Fate, UserAct } from '../../support/table-stage.ts';
import { setStep, sheetLayout, titled } from '../../support/table-steps.ts';
import { fill, type GetStage, titlesById } from './leads.ts';

const whole = { '1': 'Title 1', '2': 'Title 2', '3': 'Title 3' };

export function describeLateWrites(stage: GetStage): void {
  /** Sends a write that gets no reply. Returns what is kept of it. */
  async function sendInVain(fate: Fate, ...acts: UserAct[]): Promise<Receipt> {
    const { table } = stage();
    await fill(stage(), ...Object.keys(whole));
    let kept = table.prepare([setStep(1, textCell('1'), titled('Written'))], 'w1', []);
    if (acts.length > 0) await stage().beforeNextWrite(...acts);
    stage().setFate(fate);
    const keep = (receipt: Receipt) => {
      kept = receipt;
    };
    await expect(table.write(kept, keep)).rejects.toMatchObject({
      code: 'SHEET_UNREACHABLE',
      kind: { retry: 'later' },
    });
    return kept;
  }

  /** What another process makes of what was kept. */
  async function recover(receipt: Receipt, mayLand: boolean): Promise<WriteResult | undefined> {
    const table = stage().openTable();
    await table.read(sheetLayout);
    return table.recover(receipt, () => undefined, mayLand);
  }

  const done = { done: new Map([[0, { edited: [] }]]), escalated: [], isOver: true };

  describe('a write without a reply', () => {
    test('is confirmed by another process where it reached its row', async () => {
      const receipt = await sendInVain('unanswered');
      expect(await recover(receipt, true)).toMatchObject(done);
      expect(await titlesById(stage().table)).toEqual({ ...whole, '1': 'Written' });
    });

    test('is asked about again while it may land, and nothing is known of it when it never did', async () => {
      const receipt = await sendInVain('lost');
      expect(await recover(receipt, true)).toBeUndefined();
      expect(await recover(receipt, false)).toBeUndefined();
      expect(await titlesById(stage().table)).toEqual(whole);
    });

    test('is confirmed where it lands late', async () => {
      const receipt = await sendInVain('late');
      expect(await recover(receipt, true)).toBeUndefined();
      await stage().land();
      expect(await recover(receipt, true)).toMatchObject(done);
      expect(await titlesById(stage().table)).toEqual({ ...whole, '1': 'Written' });
    });

    test('S2: leaves no other row changed where rows had moved, once another process has recovered it', async () => {
      const receipt = await sendInVain('unanswered', { kind: 'sort' });
      const result = await recover(receipt, true);
      expect(result).toMatchObject({ escalated: [], isOver: true });
      const own = result?.done.has(0) ? { '1': 'Written' } : {};
      expect(await titlesById(stage().table)).toEqual({ ...whole, ...own });
    });
  });
}
