import { type Documents, type StoredFile, storeSpreadsheet } from './documents.ts';
import { type Faults, noFaults } from './faults.ts';
import { invalidArgument } from './google-error.ts';
import { applyPersonAction } from './person.ts';
import type { PersonAction } from './person-shapes.ts';
import type { Quota } from './quota.ts';
import { type DoneAction, undoAction } from './undo.ts';

/** The running emulator: the account's files, its quota, what goes wrong, and what can be undone. */
export interface Sandbox {
  documents: Documents;
  quota: Quota;
  clock: () => number;
  faults: Faults;
  /** Per spreadsheet what people did, newest last. */
  done: Map<string, DoneAction[]>;
}

const MAX_UNDO_STEPS = 100;

export function createSandbox(documents: Documents, quota: Quota, clock: () => number): Sandbox {
  return { documents, quota, clock, faults: noFaults(), done: new Map() };
}

/** Does what a person does, all actions or none, and remembers how to take each back. */
export function performActions(sandbox: Sandbox, file: StoredFile, actions: readonly PersonAction[]): void {
  const { spreadsheetId } = file.spreadsheet;
  const done = [...(sandbox.done.get(spreadsheetId) ?? [])];
  let current = file.spreadsheet;
  for (const action of actions) {
    if (action.kind === 'undo') {
      const last = done.pop();
      if (!last) throw invalidArgument('There is nothing to undo.');
      current = undoAction(current, last);
    } else {
      const after = applyPersonAction(current, action, sandbox.documents.ids.nextId);
      done.push({ action, before: current, after });
      current = after;
    }
  }
  sandbox.done.set(spreadsheetId, done.slice(-MAX_UNDO_STEPS));
  storeSpreadsheet(file, current, sandbox.clock());
}
