import type { RecordId } from '../../../core/record.ts';

const namedMax = 5;

/** What to say of a row, named by `subject`, that looks like these records, and what can be done instead of giving it an ID. */
export function suspectReason(subject: string, ids: readonly RecordId[], orElse: string): string {
  const [only, ...others] = ids;
  if (others.length === 0)
    return `${subject} looks like record ${only}, whose row is missing. Put ${only} into the ID cell, or ${orElse}.`;
  const named = [...ids.slice(0, namedMax), ...(ids.length > namedMax ? ['…'] : [])].join(', ');
  return `${subject} looks like the records ${named}, whose rows are missing. Put the right one into the ID cell, or ${orElse}.`;
}
