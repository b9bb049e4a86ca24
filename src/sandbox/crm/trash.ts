import type { CrmRecords } from './records.ts';

/**
 * What goes to the trash together (CRM External API Specification, "States and transitions", Trash).
 */

/** Trashes a task with its subtasks, of any depth. A task that is trashed already is passed over. */
export function trashTask(records: CrmRecords, id: number): void {
  const { tasks } = records;
  if (!tasks.find(id)) return;
  tasks.trash(id);
  for (const task of tasks.live()) {
    if (task.parent_task_id === id) trashTask(records, task.id);
  }
}

/** Trashes a lead with its tasks and opportunities. */
export function trashLead(records: CrmRecords, id: number): void {
  const { leads, tasks, opportunities } = records;
  leads.trash(id);
  for (const task of tasks.live()) {
    if (task.lead_id === id) trashTask(records, task.id);
  }
  for (const opportunity of opportunities.live()) {
    if (opportunity.lead_id === id) opportunities.trash(opportunity.id);
  }
}
