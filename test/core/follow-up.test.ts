import { describe, expect, it } from 'vitest';
import type { Plan } from '../../src/sheet/plans/plan.ts';
import { countLeft, followUp, writtenKeys } from '../../src/sheet/plans/plan-gate.ts';
import { textCell } from '../../src/sheet/port/cell.ts';
import { addRow, changeRecord, copyRow, leadKey, rowOf, type World } from '../support/world.ts';
import { cycle, decideWorld, look, pull, refuse, setTitle, worldWithLeads } from '../support/world-daemon.ts';

const [acme, beta] = [leadKey(1), leadKey(2)];

/** All that plans wrote before: the records that have a row. */
const begun = new Set(['lead-1', 'lead-2', 'lead-3']);

/** What would be decided now, after everything was read as it is. */
async function decideAtRest(world: World): Promise<Plan> {
  await look(world);
  world.clock.now += 1;
  return await decideWorld(world);
}

describe('what follows an applied plan', () => {
  it('is nothing that a person has not seen', async () => {
    const world = await worldWithLeads(['Acme', 'Beta', 'Gamma'], { conflict: 'ask' });
    changeRecord(world, acme, { title: 'Acme Ltd' });
    rowOf(world, beta).cells['title'] = textCell('Beta Ltd');
    await pull(world);
    const plan = await decideWorld(world);
    const applied = followUp(plan, new Set());
    expect([applied.agreements.save, applied.outbox.save, applied.table]).toEqual([[], [], []]);
    expect([countLeft(plan, applied), countLeft(plan, plan)]).toEqual([1, 0]);
  });

  it('is a claimed row that becomes a record, and not another edit beside it', async () => {
    const world = await worldWithLeads(['Acme']);
    addRow(world, 'lead', { title: textCell('New') });
    await cycle(world);
    const claim = await cycle(world);
    expect(claim.table).toMatchObject([{ creates: { title: 'New' } }]);
    rowOf(world, acme).cells['title'] = textCell('Typed meanwhile');
    const plan = await decideAtRest(world);
    expect(plan.outbox.save.map(({ kind }) => kind).toSorted()).toEqual(['create', 'update']);
    const { outbox } = followUp(plan, new Set(writtenKeys(claim)));
    expect(outbox.save.map(({ kind }) => kind)).toEqual(['create']);
  });

  it('is no record of its own for a copy of a row that was written, before a plan with the answer “new” is applied', async () => {
    const world = await worldWithLeads(['Acme', 'Beta']);
    copyRow(world, acme);
    await cycle(world);
    const [hold] = (await cycle(world)).holds;
    world.decisions.set(hold?.decision ?? '', 'new');
    const plan = await decideWorld(world);
    expect(plan.table.map(({ write }) => write)).toMatchObject([{ kind: 'set', id: { kind: 'text' } }]);
    expect(followUp(plan, begun).table).toEqual([]);
  });

  it('is not the end of an answer whose step is left out: “retry” counts until its plan is applied, and then once', async () => {
    const world = await worldWithLeads(['Acme', 'Beta']);
    rowOf(world, acme).cells['title'] = textCell('Acme GmbH');
    await cycle(world);
    await cycle(world);
    refuse(world);
    await cycle(world);
    world.decisions.set('refused:lead-1', 'retry');
    const plan = await decideAtRest(world);
    expect([plan.outbox.save.length, plan.settledDecisions]).toEqual([1, ['refused:lead-1']]);
    const { outbox, settledDecisions } = followUp(plan, begun);
    expect([outbox.save, settledDecisions]).toEqual([[], []]);
  });

  it('is the end of an answer that is for nothing any more', async () => {
    const world = await worldWithLeads(['Acme', 'Beta']);
    world.decisions.set('conflict:lead-1:title', 'crm');
    expect(followUp(await decideAtRest(world), begun).settledDecisions).toEqual(['conflict:lead-1:title']);
  });

  it('is not the end of an approval of moved columns, and nothing is forgotten for it', async () => {
    const world = await worldWithLeads(['Acme', 'Beta']);
    rowOf(world, acme).cells['title'] = textCell('Somebody else');
    setTitle(world, { header: 'Name' });
    world.decisions.set('brake:lead:columns', 'approve');
    const plan = await decideAtRest(world);
    expect([plan.remapped, plan.brakes]).toEqual([['lead'], []]);
    const { agreements, journal, remapped, settledDecisions } = followUp(plan, begun);
    expect([agreements.save, journal, remapped, settledDecisions]).toEqual([[], [], [], []]);
  });

  it('S1: keeps in the journal what is not to be sent any more, also where the rest of its row is left out', async () => {
    const world = await worldWithLeads(['Acme', 'Beta']);
    rowOf(world, acme).cells['about.url'] = textCell('https://acme.example');
    await cycle(world);
    await cycle(world);
    world.hiddenFields.add('about.url');
    changeRecord(world, acme, { 'about.url': 'https://crm.example', title: 'Acme Ltd' });
    await pull(world);
    const plan = await decideAtRest(world);
    expect(plan.table).toMatchObject([{ offers: { title: 'Acme Ltd' } }]);
    const { journal, outbox, table } = followUp(plan, begun);
    expect([outbox.drop, table]).toEqual([[acme], []]);
    expect(journal).toMatchObject([{ lost: { 'about.url': 'https://acme.example' } }]);
  });
});
