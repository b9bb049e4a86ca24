import { isClaimToken, parseRecordKey } from '../record.ts';
import type { Decision } from '../state.ts';
import { labelKey } from '../text/label-key.ts';

/** What a person can answer to something that waits, by the word that commands take, as people choose it in the sheet. */
export const answerLabels = {
  approve: 'Approve',
  trash: 'Trash',
  restore: 'Restore',
  crm: 'CRM',
  sheet: 'Sheet',
  new: 'New record',
  retry: 'Retry',
  revert: 'Revert',
  ignore: 'Ignore',
  keep: 'Keep',
} as const;
export type Answer = keyof typeof answerLabels;
export const answers = Object.keys(answerLabels) as readonly Answer[];

/** What can be answered to everything at once to which it is an answer: a brake is there to be looked at. */
export const answersToAll = [
  'crm',
  'sheet',
  'retry',
  'revert',
  'ignore',
] as const satisfies readonly Answer[];

/**
 * What can be answered under a scope: any other answer would leave it waiting, or let go on what the person meant to stop. Nothing, while
 * what the person would agree to is still being found out.
 */
export function answersTo(scope: string): readonly Answer[] {
  const [kind, subject = '', part] = scope.split(':');
  if (kind === 'held') return [];
  if (kind === 'vanished') return ['trash', 'restore'];
  if (kind === 'damage') return ['restore', 'keep'];
  if (kind === 'conflict') return ['crm', 'sheet'];
  if (kind === 'copy') return ['new'];
  if (kind === 'refused') return isCreate(subject) ? ['retry', 'ignore'] : ['retry', 'revert', 'ignore'];
  if (part === 'reading') return [];
  if (part === 'edited' || part === 'deleted' || part === 'unlogged') return ['approve', 'revert'];
  return part === 'emptied' || part === 'vanished' ? ['approve', 'trash', 'restore'] : ['approve'];
}

/** Of a record that the CRM never had there is nothing to put back. */
const isCreate = (subject: string): boolean => isClaimToken(parseRecordKey(subject)?.id ?? '');

/** The answer that a text means, however it is written; `undefined` when it is none of those that fit the scope. */
export const readAnswer = (scope: string, text: string): Answer | undefined =>
  answersTo(scope).find((answer) => labelKey(answerLabels[answer]) === labelKey(text));

/**
 * The answer as it is kept until it is carried out. Deciding knows the sheet as the table. `seen` is what a brake showed when it was
 * answered: until the sheet is read again, more may have happened behind it.
 */
export const decisionOf = (scope: string, answer: Answer, at: number, seen?: string): Decision => ({
  scope,
  choice: `${answer === 'sheet' ? 'table' : answer}${seen === undefined ? '' : `:${seen}`}`,
  at,
});

/** The answer to a brake, and what the brake showed then; absent in old mirrors. */
export function readBrakeAnswer(choice: string): { readonly answer: string; readonly seen?: string } {
  const [, answer = choice, seen] = /^(\w+):(.*)$/s.exec(choice) ?? [];
  return seen === undefined ? { answer } : { answer, seen };
}

/** The answer that is kept so, in the word of the person who gave it; `value` for a value of their own. None for what was only noted. */
export function answerIn({ choice }: Pick<Decision, 'choice'>): Answer | 'value' | undefined {
  const [word] = choice.split(':');
  if (word === 'value') return word;
  return answers.find((answer) => answer === (word === 'table' ? 'sheet' : word));
}
