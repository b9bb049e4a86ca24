import { describe, expect, it } from 'vitest';
import { emptyCell, textCell } from '../../src/sheet/port/cell.ts';
import { bolt, cycles } from '../support/damages.ts';
import { addRow, rowOf } from '../support/world.ts';
import { claim, creates } from '../support/world-creates.ts';
import { cycle, settle, worldWithLeads } from '../support/world-daemon.ts';
import { titles } from '../support/world-view.ts';

describe('a claim token of which no write was confirmed', () => {
  it('S3: leaves its row alone while its write has no reply', () => {
    const world = worldWithLeads(['Acme']);
    const row = addRow(world, 'lead', { title: textCell('Dune') });
    row.id = textCell('new-5');
    world.openTokens.add('new-5');
    const plan = cycles(world);
    expect([plan.table, creates(world), row.id, row.sync]).toEqual([[], [], textCell('new-5'), emptyCell]);
    world.openTokens.clear();
    cycle(world);
    expect(creates(world)).toMatchObject([{ key: { id: 'new-5' }, fields: { title: 'Dune' } }]);
  });

  it('keeps the record that its row looks like from vanishing', () => {
    const world = worldWithLeads(['Acme', 'Bolt', 'Corp']);
    rowOf(world, bolt).id = textCell('new-5');
    world.openTokens.add('new-5');
    expect(cycles(world).holds).toEqual([]);
  });

  it('S3: leaves copies of its row alone as well', () => {
    const world = worldWithLeads(['Acme']);
    const row = addRow(world, 'lead', { title: textCell('Dune') });
    row.id = textCell('new-5');
    world.sheet.lead.push(structuredClone(row));
    world.openTokens.add('new-5');
    const plan = cycles(world);
    expect([plan.table, plan.questions]).toEqual([[], []]);
  });

  it('S3: is replaced by another one once its write is over', () => {
    const world = worldWithLeads(['Acme']);
    const row = addRow(world, 'lead', { title: textCell('Dune') });
    row.id = textCell('new-5');
    world.voidTokens.add('new-5');
    cycle(world);
    const plan = cycle(world);
    expect(plan.table).toMatchObject([{ write: { idSeen: textCell('new-5') }, creates: { title: 'Dune' } }]);
    expect(row.id).not.toEqual(textCell('new-5'));
    settle(world);
    expect(titles(world)).toEqual(['Acme', 'Dune']);
  });

  it('goes out of a row in which nothing else is left', () => {
    const world = worldWithLeads(['Acme']);
    const row = addRow(world, 'lead', {});
    row.id = textCell('new-5');
    world.voidTokens.add('new-5');
    cycles(world);
    expect(row.id).toEqual(emptyCell);
  });

  it('is followed all the same where its create is under way', () => {
    const world = worldWithLeads(['Acme']);
    const row = addRow(world, 'lead', { title: textCell('Dune') });
    const item = claim(world, row);
    world.voidTokens.add(item.key.id);
    cycle(world);
    expect([row.id, creates(world)]).toEqual([textCell(item.key.id), [item]]);
    settle(world);
    expect(titles(world)).toEqual(['Acme', 'Dune']);
  });
});

describe('a row whose write was lost, or its reply', () => {
  it('is claimed once, and becomes one record', () => {
    for (const outcome of ['lost', 'unanswered'] as const) {
      const world = worldWithLeads(['Acme']);
      addRow(world, 'lead', { title: textCell('Dune') });
      cycle(world);
      cycle(world, outcome);
      settle(world);
      expect(titles(world)).toEqual(['Acme', 'Dune']);
    }
  });
});
