import type { BudgetLog } from '../../src/core/ports.ts';

/** A budget log that outlives the budget but not the test. */
export function createMemoryBudgetLog(): BudgetLog {
  const slots = new Map<number, { key: string; freeAt: number }>();
  let lastId = 0;
  return {
    readSlots: () => [...slots].map(([id, slot]) => ({ id, ...slot })),
    addSlot: (key, freeAt) => {
      lastId += 1;
      slots.set(lastId, { key, freeAt });
      return lastId;
    },
    moveSlot: (id, freeAt) => {
      const slot = slots.get(id);
      if (slot) slot.freeAt = freeAt;
    },
    forgetSlots: (now) => {
      for (const [id, slot] of slots) if (slot.freeAt < now) slots.delete(id);
    },
  };
}
