import { describe, expect, it } from 'vitest';
import { textCell } from '../../src/core/cell.ts';
import { leadKey, rowOf } from '../support/world.ts';
import { cycle, worldWithLeads } from '../support/world-daemon.ts';

describe('S1: what somebody typed in the moment in which the row was written', () => {
  it('comes back where it was replaced, and only there where somebody typed again since', () => {
    const world = worldWithLeads(['Acme', 'Beta']);
    const row = rowOf(world, leadKey(1));
    const written = { title: textCell('From the CRM'), status_name: textCell('New') };
    world.openWrites.set('w', {
      id: 'w',
      at: world.now,
      outcome: 'answered',
      settlesAt: world.now,
      sets: [
        {
          entity: 'lead',
          position: 1,
          idSeen: row.id,
          idFound: row.id,
          cells: written,
          replaced: { title: textCell('Typed'), status_name: textCell('Qualified') },
        },
      ],
      deletes: [],
      before: [],
    });
    Object.assign(row.cells, { ...written, status_name: textCell('Typed again') });
    cycle(world);
    expect(row.cells).toMatchObject({ title: textCell('Typed'), status_name: textCell('Typed again') });
  });
});
