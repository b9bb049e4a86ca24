import { type ListedEntity, listedEntities } from '../../core/record.ts';
import type { Check, Sides } from './check.ts';
import { type CrmContents, recordsOf } from './crm-person.ts';
import { demand, difference, waitUntil } from './expect.ts';

export const deletedRow: Check = {
  name: 'a row deleted in the sheet is held, not deleted in the CRM, and comes back when restored',
  async run({ sheet, crm, daemon }) {
    // Its lead may be renamed meanwhile: then its row would rightly come back with another text.
    const { id } = await crm.take('task', (task) => task.lead_id === null);
    const before = await crm.find('task', id);
    const rowBefore = await sheet.findRow('task', id);
    const scope = `vanished:task-${id}`;
    await sheet.deleteRow('task', id);
    await waitUntil(async () => {
      const { holds } = await daemon.status();
      return holds.some(({ decision }) => decision === scope)
        ? undefined
        : `The daemon does not hold ${scope}`;
    });
    demand(`task ${id} in the CRM`, await crm.find('task', id), before);
    demand(`row of task ${id}`, await sheet.findRow('task', id), undefined);
    await daemon.approve(scope, 'restore');
    await waitUntil(async () => {
      const row = await sheet.findRow('task', id);
      // Its Sync cell speaks of now.
      return difference(`row of task ${id}`, row && { ...row, Sync: '' }, { ...rowBefore, Sync: '' });
    });
    demand(`task ${id} in the CRM`, await crm.find('task', id), before);
  },
};

/**
 * Moves a lead with all that hangs on it, an opportunity and a task to the trash. Answers the check that their
 * rows go.
 */
export async function trashRecords({ sheet, crm }: Sides): Promise<Check> {
  const before = await crm.look();
  for (const entity of listedEntities) {
    const { id } = await crm.take(entity);
    await crm.trash(entity, id);
  }
  const after = await crm.look();
  const gone = listedEntities.map((entity) => [entity, missingIds(entity, before, after)] as const);
  const counts = gone.map(([entity, ids]) => `${ids.length} × ${entity}`).join(', ');
  return {
    name: `the rows of ${counts} trashed in the CRM go`,
    run: () =>
      waitUntil(async () => {
        const tabs = await sheet.look();
        const left = gone.map(([entity, ids]) =>
          tabs[entity].rows.filter((row) => ids.includes(Number(row['ID']))),
        );
        return difference(
          'rows of trashed records',
          left.map((rows) => rows.length),
          [0, 0, 0],
        );
      }),
  };
}

function missingIds(entity: ListedEntity, before: CrmContents, after: CrmContents): number[] {
  const left = new Set(recordsOf(after, entity).map(({ id }) => id));
  return recordsOf(before, entity).flatMap(({ id }) => (left.has(id) ? [] : [id]));
}
