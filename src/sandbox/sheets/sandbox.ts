import { type Documents, type StoredFile, storeSpreadsheet } from './documents.ts';
import { type Faults, noFaults } from './faults.ts';
import { followedAction } from './people/followed-action.ts';
import { applyPersonAction } from './people/person.ts';
import type { PersonAction } from './people/person-shapes.ts';
import { type DoneStep, takeBack } from './people/undo.ts';
import type { Quota } from './quota.ts';
import { invalidArgument } from './wire/google-error.ts';

/** The running emulator: the account's files, its quota, what goes wrong, and what can be undone. */
export interface Sandbox {
  documents: Documents;
  quota: Quota;
  /** Bytes of all answers so far, before they were compressed. */
  answeredBytes: number;
  /** From each request to its answer, ms, all added up. */
  answeringMs: number;
  clock: () => number;
  faults: Faults;
  /** Per spreadsheet what people did and what they took back. */
  histories: Map<string, History>;
}

/** Newest last; whatever is done anew ends what could be redone. */
interface History {
  done: readonly DoneStep[];
  undone: readonly DoneStep[];
}

const MAX_UNDO_STEPS = 100;

export function createSandbox(documents: Documents, quota: Quota, clock: () => number): Sandbox {
  return {
    documents,
    quota,
    answeredBytes: 0,
    answeringMs: 0,
    clock,
    faults: noFaults(),
    histories: new Map(),
  };
}

/** Does what a person does, all actions or none, and remembers how to take each back. */
export function performActions(sandbox: Sandbox, file: StoredFile, actions: readonly PersonAction[]): void {
  const { spreadsheetId } = file.spreadsheet;
  const { nextId } = sandbox.documents.ids;
  let current = file.spreadsheet;
  let { done, undone } = sandbox.histories.get(spreadsheetId) ?? { done: [], undone: [] };
  for (const action of actions) {
    const before = current;
    if (action.kind === 'undo') {
      current = takeBack(before, lastOf(done, 'undo'));
      [done, undone] = [done.slice(0, -1), [...undone, { before, after: current }]];
    } else if (action.kind === 'redo') {
      current = takeBack(before, lastOf(undone, 'redo'));
      [done, undone] = [[...done, { before, after: current }], undone.slice(0, -1)];
    } else {
      current = applyPersonAction(before, followedAction(before, action), nextId, sandbox.clock());
      [done, undone] = [[...done, { before, after: current }].slice(-MAX_UNDO_STEPS), []];
    }
  }
  sandbox.histories.set(spreadsheetId, { done, undone });
  storeSpreadsheet(file, current, sandbox.clock());
}

function lastOf(steps: readonly DoneStep[], wish: 'undo' | 'redo'): DoneStep {
  const last = steps.at(-1);
  if (!last) throw invalidArgument(`There is nothing to ${wish}.`);
  return last;
}
