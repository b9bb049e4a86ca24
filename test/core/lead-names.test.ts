import { describe, expect, it } from 'vitest';
import type { RecordKey } from '../../src/core/record.ts';
import { createNames, decode, titledChoice } from '../../src/sheet/cells/codec.ts';
import { describeCell, emptyCell, textCell } from '../../src/sheet/port/cell.ts';
import { sampleCatalog, sampleField } from '../support/fields.ts';
import { addRecord, addRow, changeRecord, leadKey, recordOf, rowOf, type World } from '../support/world.ts';
import { cycle, settle, worldWithLeads } from '../support/world-daemon.ts';
import { syncOf } from '../support/world-view.ts';

/** A task of the first of the leads, with both sides the same. */
async function worldWithTask(leads: readonly string[]): Promise<{ world: World; task: RecordKey }> {
  const world = await worldWithLeads(leads);
  const task: RecordKey = { entity: 'task', id: addRecord(world, 'task', { title: 'Call', lead_id: 1 }) };
  await settle(world);
  return { world, task };
}

const shownLead = (world: World, task: RecordKey) =>
  describeCell(rowOf(world, task).cells['lead_id'] ?? emptyCell);

describe('a lead cell that shows a title and an id', () => {
  it('S1: is not put back without a word where somebody replaced the title alone', async () => {
    const { world, task } = await worldWithTask(['Acme Berlin', 'Acme Hamburg']);
    rowOf(world, task).cells['lead_id'] = textCell('Acme Hamburg (#1)');
    await settle(world);
    expect(syncOf(rowOf(world, task))).toBe(
      'Error: “Acme Hamburg (#1)” names several: Acme Hamburg (#2), Acme Berlin (#1). Write which one.',
    );
    expect(shownLead(world, task)).toBe('Acme Hamburg (#1)');
    rowOf(world, task).cells['lead_id'] = textCell('Acme Hamburg');
    await settle(world);
    expect(recordOf(world, task).fields['lead_id']).toBe(2);
  });

  it('S1: is not put back either where the title is that of a new row', async () => {
    const { world, task } = await worldWithTask(['Acme']);
    addRow(world, 'lead', { title: textCell('Nova') });
    rowOf(world, task).cells['lead_id'] = textCell('Nova (#1)');
    await cycle(world);
    await cycle(world);
    expect(syncOf(rowOf(world, task))).toBe(
      'Error: “Nova (#1)” names several: Acme (#1), and a new row that has no ID of the CRM yet. Write which one, or wait for that ID.',
    );
    await settle(world);
    expect(shownLead(world, task)).toBe('Nova (#1)');
  });

  it('means its id where the title is nobody’s', async () => {
    const { world, task } = await worldWithTask(['Acme Berlin', 'Acme Hamburg']);
    rowOf(world, task).cells['lead_id'] = textCell('Acme (#2)');
    await settle(world);
    expect(recordOf(world, task).fields['lead_id']).toBe(2);
    expect(shownLead(world, task)).toBe('Acme Hamburg (#2)');
  });

  it('shows the new title of the lead that the record belongs to by now', async () => {
    const { world, task } = await worldWithTask(['Acme', 'Beta']);
    changeRecord(world, task, { lead_id: 2 });
    await settle(world);
    changeRecord(world, leadKey(2), { title: 'Beta GmbH' });
    await settle(world);
    expect(shownLead(world, task)).toBe('Beta GmbH (#2)');
  });

  it('means its id beside leads without a title', () => {
    const names = createNames(sampleCatalog, [titledChoice(1, 'Acme'), titledChoice(2, '')], 'UTC');
    for (const text of ['1', '#1', '(#1)', 'Acme (#1)'])
      expect(decode(sampleField('task', 'lead_id'), textCell(text), names)).toMatchObject({ value: 1 });
  });

  it.each([
    ['the CRM', (world: World, id: number, title: string) => changeRecord(world, leadKey(id), { title })],
    [
      'the sheet',
      (world: World, id: number, title: string) => {
        rowOf(world, leadKey(id)).cells['title'] = textCell(title);
      },
    ],
  ])(
    'S2: goes on meaning its lead where leads of one title are told apart and called the same again, in %s',
    async (_side, rename) => {
      const { world, task } = await worldWithTask(['Acme', 'Acme']);
      rename(world, 1, 'Acme Berlin');
      await settle(world);
      expect(shownLead(world, task)).toBe('Acme Berlin (#1)');
      rename(world, 1, 'Acme');
      await settle(world);
      rename(world, 2, 'Acme Berlin');
      await settle(world);
      expect(shownLead(world, task)).toBe('Acme (#1)');
      expect(recordOf(world, task).fields['lead_id']).toBe(1);
      expect(syncOf(rowOf(world, task))).toMatch(/^Synced/);
    },
  );
});
