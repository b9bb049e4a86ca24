import { describe, expect, it } from 'vitest';
import { lateLandingMs } from '../../src/core/open-write.ts';
import { emptyCell, textCell } from '../../src/sheet/port/cell.ts';
import { bolt, cycles } from '../support/damages.ts';
import { addRow, rowOf, type World } from '../support/world.ts';
import { claim, creates } from '../support/world-creates.ts';
import { cycle, settle, voidClaim, worldWithLeads } from '../support/world-daemon.ts';
import { titles } from '../support/world-view.ts';

/** A write of a claim token has no reply so far. */
function openClaim({ clock, mirror }: World, token: string): void {
  const [at, settlesAt] = [clock.now, clock.now + lateLandingMs];
  mirror.saveOpenWrite({ id: 'open', at, settlesAt, receipt: '', confirms: [], tokens: [token], damage: [] });
}

describe('a claim token of which no write was confirmed', () => {
  it('S3: leaves its row alone while its write has no reply', async () => {
    const world = await worldWithLeads(['Acme']);
    const row = addRow(world, 'lead', { title: textCell('Dune') });
    row.id = textCell('new-1-0');
    openClaim(world, 'new-1-0');
    const plan = await cycles(world);
    expect([plan.table, creates(world), row.id, row.sync]).toEqual([[], [], textCell('new-1-0'), emptyCell]);
    world.mirror.dropOpenWrite('open');
    await cycle(world);
    expect(creates(world)).toMatchObject([{ key: { id: 'new-1-0' }, fields: { title: 'Dune' } }]);
  });

  it('keeps the record that its row looks like from vanishing', async () => {
    const world = await worldWithLeads(['Acme', 'Bolt', 'Corp']);
    rowOf(world, bolt).id = textCell('new-1-0');
    openClaim(world, 'new-1-0');
    expect((await cycles(world)).holds).toEqual([]);
  });

  it('S3: leaves copies of its row alone as well', async () => {
    const world = await worldWithLeads(['Acme']);
    const row = addRow(world, 'lead', { title: textCell('Dune') });
    row.id = textCell('new-1-0');
    world.sheet.lead.push(structuredClone(row));
    openClaim(world, 'new-1-0');
    const plan = await cycles(world);
    expect([plan.table, plan.questions]).toEqual([[], []]);
  });

  it('S3: is replaced by another one once its write is over', async () => {
    const world = await worldWithLeads(['Acme']);
    const row = addRow(world, 'lead', { title: textCell('Dune') });
    row.id = textCell('new-1-0');
    voidClaim(world, 'new-1-0');
    await cycle(world);
    const plan = await cycle(world);
    expect(plan.table).toMatchObject([
      { write: { idSeen: textCell('new-1-0') }, creates: { title: 'Dune' } },
    ]);
    expect(row.id).not.toEqual(textCell('new-1-0'));
    await settle(world);
    expect(titles(world)).toEqual(['Acme', 'Dune']);
  });

  it('goes out of a row in which nothing else is left', async () => {
    const world = await worldWithLeads(['Acme']);
    const row = addRow(world, 'lead', {});
    row.id = textCell('new-1-0');
    voidClaim(world, 'new-1-0');
    await cycles(world);
    expect(row.id).toEqual(emptyCell);
  });

  it('is followed all the same where its create is under way', async () => {
    const world = await worldWithLeads(['Acme']);
    const row = addRow(world, 'lead', { title: textCell('Dune') });
    const item = await claim(world, row);
    voidClaim(world, item.key.id);
    await cycle(world);
    expect([row.id, creates(world)]).toEqual([textCell(item.key.id), [item]]);
    await settle(world);
    expect(titles(world)).toEqual(['Acme', 'Dune']);
  });
});

describe('a row whose write was lost, or its reply', () => {
  it('is claimed once, and becomes one record', async () => {
    for (const outcome of ['lost', 'unanswered'] as const) {
      const world = await worldWithLeads(['Acme']);
      addRow(world, 'lead', { title: textCell('Dune') });
      await cycle(world);
      await cycle(world, outcome);
      await settle(world);
      expect(titles(world)).toEqual(['Acme', 'Dune']);
    }
  });
});
