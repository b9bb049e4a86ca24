import { describe, expect, test } from 'vitest';
import { waitingStep } from '../../src/core/outbox.ts';
import type { VanishedRowPolicy } from '../../src/sheet/policy.ts';
import { pushRecord } from '../../src/sync/pushing/push.ts';
import { pushHeldUp } from '../support/held-deletes.ts';
import { asked, deleteWithTask, hasLead, openMovedTask, otherThan } from '../support/leads-with-tasks.ts';

describe('S1: a task that somebody moves to another lead before they delete the row of its own', () => {
  /** The move waits to be sent, and so does the delete. */
  async function moveAndDelete(rule: VanishedRowPolicy) {
    const stage = await openMovedTask(rule);
    const { key, link, task } = stage;
    expect(link.mirror.findOutboxItem(task)).toMatchObject({ kind: 'update', state: 'waiting' });
    const base = link.mirror.findRecord(key)?.fields ?? {};
    const step = { kind: 'delete', fields: {}, base } as const;
    link.mirror.saveOutboxItem(waitingStep({ now: link.clock.now(), run: 'one' }, key, step));
    return stage;
  }

  test('is moved first', async () => {
    const { key, link, other, readCrm, task } = await moveAndDelete('ask');
    link.mirror.saveDecision({ scope: `vanished:lead-${key.id}`, choice: 'trash', at: link.clock.now() });
    expect(await pushRecord(link, key)).toBe('nothing');
    expect(await pushRecord(link, task)).toBe('written');
    expect(await pushRecord(link, key)).toBe('written');
    const { leads, tasks } = await readCrm();
    expect(leads.map(({ id }) => String(id))).not.toContain(key.id);
    expect(tasks).toMatchObject([{ lead_id: Number(other) }]);
  });

  test('is moved first also where another side has the step that moves it', async () => {
    const { key, link, task } = await moveAndDelete('ask');
    const other = { ...link, mirror: link.mirror.of('warehouse') };
    const move = link.mirror.findOutboxItem(task);
    link.mirror.dropOutboxItem(task);
    if (move) other.mirror.saveOutboxItem(move);
    link.mirror.saveDecision({ scope: `vanished:lead-${key.id}`, choice: 'trash', at: link.clock.now() });
    expect(await pushRecord(link, key)).toBe('nothing');
    expect(await pushRecord(other, task)).toBe('written');
    expect(await pushRecord(link, key)).toBe('written');
  });

  test('is moved first also where they take back with an undo that it was moved there', async () => {
    const stage = await deleteWithTask('ask');
    const { engine, id, key, link, task } = stage;
    const other = otherThan(link, id);
    link.mirror.saveDecision({ scope: `vanished:lead-${id}`, choice: 'trash', at: link.clock.now() });
    for (const _turn of [1, 2]) await engine.cycle();
    const move = {
      kind: 'update',
      fields: { lead_id: Number(other) },
      base: { lead_id: Number(id) },
    } as const;
    const step = waitingStep({ now: link.clock.now(), run: 'undo' }, task, move);
    link.mirror.saveOutboxItem({ ...step, isUndo: true });
    expect(await pushRecord(link, key)).toBe('nothing');
    expect(await pushRecord(link, task)).toBe('written');
    expect(await pushRecord(link, key)).toBe('written');
    expect((await stage.readCrm()).tasks).toMatchObject([{ lead_id: Number(other) }]);
  });

  test.each(['a person', 'the configuration'])(
    'keeps no delete that %s decided waiting without a word where the key may not send that',
    async (who) => {
      const stage = await deleteWithTask(who === 'a person' ? 'ask' : 'trash');
      const { engine, id, key, link, task } = stage;
      const other = otherThan(link, id);
      const refusal = { kind: 'status', status: 403, path: '/tasks/*', method: 'PUT', times: 100 } as const;
      stage.setCrmFaults({ faults: [refusal] });
      await stage.editSheet({ kind: 'edit', sheet: 'Tasks', row: 1, column: 'Lead', text: `#${other}` });
      for (const _turn of [1, 2]) await engine.cycle();
      expect(await pushRecord(link, task)).toBe('noted');
      expect(await asked(engine, id)).toEqual([expect.stringContaining('and 1 task with it')]);
      link.mirror.saveDecision({ scope: `vanished:lead-${id}`, choice: 'trash', at: link.clock.now() });
      for (const _turn of [1, 2]) await engine.cycle();
      expect(await pushRecord(link, key)).toBe('written');
    },
  );

  test('is moved first also where they do so while the delete waits for its turn', async () => {
    const stage = await deleteWithTask('ask');
    const { engine, id, key, link, task } = stage;
    const other = otherThan(link, id);
    link.mirror.saveDecision({ scope: `vanished:lead-${id}`, choice: 'trash', at: link.clock.now() });
    for (const _turn of [1, 2]) await engine.cycle();
    const { letGo } = pushHeldUp(link, key);
    await stage.editSheet({ kind: 'edit', sheet: 'Tasks', row: 1, column: 'Lead', text: `#${other}` });
    for (const _turn of [1, 2]) await engine.cycle();
    expect(link.mirror.findOutboxItem(task)).toMatchObject({ kind: 'update', state: 'waiting' });
    expect(await letGo()).toBe('nothing');
    expect(await pushRecord(link, task)).toBe('written');
    expect(await pushRecord(link, key)).toBe('written');
    expect((await stage.readCrm()).tasks).toMatchObject([{ lead_id: Number(other) }]);
  });

  test.each([
    ['the CRM does not take that', 400],
    ['the key may not send that', 403],
  ])('is asked about where %s', async (_why, status) => {
    const stage = await moveAndDelete('trash');
    const { engine, id, key, link, task } = stage;
    const refusal = { kind: 'status', status, path: '/tasks/*', method: 'PUT' } as const;
    stage.setCrmFaults({ faults: [refusal] });
    expect(await pushRecord(link, task)).toBe('noted');
    expect(await pushRecord(link, key)).toBe('noted');
    expect(await asked(engine, id)).toEqual([expect.stringContaining('and 1 task with it')]);
    expect(await hasLead(stage, id)).toBe(true);
  });
});
