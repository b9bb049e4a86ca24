import { errorKinds } from '../core/errors.ts';

const menders = {
  operator: 'the operator',
  editor: 'the person at the row',
  time: 'time',
  bug: 'a developer',
} as const;

/** The closed table of errors in Markdown, for the manual. */
export function errorsTable(): string {
  const lines = Object.entries(errorKinds).map(
    ([code, { mender, hint }]) => `| \`${code}\` | ${menders[mender]} | ${hint} |`,
  );
  return ['| code | mended by | what to do |', '|---|---|---|', ...lines].join('\n');
}
