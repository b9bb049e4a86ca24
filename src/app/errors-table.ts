import { type ErrorCode, errorKinds } from '../core/errors.ts';
import { hintFor } from '../sheet/port/errors.ts';

const menders = {
  operator: 'the operator',
  editor: 'the person at the row',
  time: 'time',
  bug: 'a developer',
} as const;

/** The closed table of errors in Markdown, for the manual. */
export function errorsTable(): string {
  const lines = Object.entries(errorKinds).map(
    ([code, { mender }]) => `| \`${code}\` | ${menders[mender]} | ${hintFor(code as ErrorCode)} |`,
  );
  return ['| code | mended by | what to do |', '|---|---|---|', ...lines].join('\n');
}
