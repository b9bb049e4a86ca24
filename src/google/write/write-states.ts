/**
 * The states of a write. `planned`: durable, not sent. `sent`: on its way. `unknown`: the reply is lost. `misdirected`: it reached rows or
 * columns that had moved. `compensating`: the inverse is on its way. All others are its ends; `confirmed` may be so in part.
 */
export type WriteState = 'planned' | 'sent' | 'unknown' | 'misdirected' | 'compensating' | WriteEnd;
type WriteEnd = 'confirmed' | 'refused' | 'neverLanded' | 'undone' | 'escalated';

/** What each state may be followed by; nothing follows an end. */
export const transitions: Readonly<Record<WriteState, readonly WriteState[]>> = {
  planned: ['sent'],
  sent: ['confirmed', 'refused', 'misdirected', 'unknown'],
  // Also an inverse may have been lost: it is planned anew.
  unknown: ['confirmed', 'neverLanded', 'misdirected', 'compensating'],
  // A look may show that the row was the right one, or that nothing is left to undo.
  misdirected: ['compensating', 'confirmed', 'undone', 'escalated', 'unknown'],
  // What a user typed into the right row is given back, and the write is confirmed.
  compensating: ['confirmed', 'undone', 'escalated', 'unknown'],
  confirmed: [],
  refused: [],
  neverLanded: [],
  undone: [],
  escalated: [],
};

/** Returns the state that follows. Fails where the table has no such transition. */
export function advance(state: WriteState, next: WriteState): WriteState {
  if (transitions[state].includes(next)) return next;
  throw new Error(`A write that is ${state} cannot become ${next}.`);
}
