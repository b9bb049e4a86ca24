import type { z } from 'zod';
import { endpoints } from '../../crm/contract.ts';
import { readBodyDate } from './dates.ts';
import { answerLooselyPaged } from './listing.ts';
import {
  type Crm,
  checkLeadReference,
  type Operation,
  readPathId,
  refuseReference,
  timestamp,
  wrapRecord,
} from './operation.ts';
import type { StoredTask } from './records.ts';
import { checkShape, refuseField, requireFields } from './refusal.ts';
import { trashTask } from './trash.ts';

/** Operations of CRM External API Specification, "Tasks". */

type TaskBody = z.output<typeof endpoints.updateTask.body>;
type TaskFields = Omit<StoredTask, 'id' | 'created_at'>;

const newTask: TaskFields = {
  title: '',
  description: null,
  status: 1,
  priority: 2,
  due_date: null,
  start_date: null,
  lead_id: null,
  parent_task_id: null,
};

export const listTasks: Operation = (crm, request) =>
  answerLooselyPaged(
    { entity: 'tasks', message: 'Tasks retrieved', items: crm.records.tasks.live() },
    request.query,
    crm.choices,
  );

export const getTask: Operation = (crm, request) => {
  const task = crm.records.tasks.get(readPathId(crm, request));
  return { message: 'Task retrieved', data: wrapRecord(crm, 'task', task) };
};

export const createTask: Operation = (crm, request) => {
  requireFields(request.body, crm.choices.requiredOnCreate.task);
  const fields = writeTask(crm, newTask, checkShape(endpoints.createTask.body, request.body));
  const description = crm.choices.createKeepsUnlistedFields ? fields.description : null;
  const task = crm.records.tasks.add((id) => ({
    id,
    ...fields,
    description,
    created_at: timestamp(request),
  }));
  return { data: { id: task.id } };
};

export const updateTask: Operation = (crm, request) => {
  const task = crm.records.tasks.get(readPathId(crm, request));
  const fields = writeTask(crm, task, checkShape(endpoints.updateTask.body, request.body));
  checkParents(crm, task.id, fields.parent_task_id);
  crm.records.tasks.replace({ ...task, ...fields });
  return {};
};

export const deleteTask: Operation = (crm, request) => {
  const task = crm.records.tasks.get(readPathId(crm, request));
  trashTask(crm.records, task.id);
  return {};
};

/** The fields after `body` is stored. @throws Refusal for dates and references that do not exist. */
function writeTask(crm: Crm, current: TaskFields, body: TaskBody): TaskFields {
  const fields = { ...current, ...body };
  checkLeadReference(crm, body.lead_id ?? null);
  const parentId = body.parent_task_id ?? null;
  if (parentId !== null && !crm.records.tasks.find(parentId)) {
    throw refuseReference(crm, 'parent_task_id', parentId);
  }
  return {
    ...fields,
    due_date: fields.due_date === null ? null : readBodyDate('due_date', fields.due_date),
    start_date: fields.start_date === null ? null : readBodyDate('start_date', fields.start_date),
  };
}

/** @throws Refusal 400 where the task would become a subtask of itself. */
function checkParents(crm: Crm, id: number, parentId: number | null): void {
  for (let above = parentId; above !== null; above = crm.records.tasks.find(above)?.parent_task_id ?? null) {
    if (above === id) throw refuseField('parent_task_id', 'A task cannot be its own subtask');
  }
}
