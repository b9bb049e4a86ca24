import type { z } from 'zod';

/** What a setting has to be, by the library's name for it. */
const kinds: Readonly<Record<string, string>> = {
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'a section with settings of its own',
  record: 'a section with settings of its own',
};

/** Says in plain words what is wrong with a setting; what has words of its own in the schema keeps them. */
export const settingWords: z.core.$ZodErrorMap = (issue) => {
  switch (issue.code) {
    case 'invalid_type':
      return issue.input === undefined ? 'is missing' : `must be ${kinds[issue.expected] ?? issue.expected}`;
    case 'invalid_value':
      return `must be one of ${issue.values.map(String).join(', ')}`;
    case 'invalid_format':
      return issue.format === 'url' ? 'must be an address such as https://crm.example.com' : undefined;
    case 'invalid_key':
      // The name of something that people call as they like, and what is wrong with that.
      return issue.issues[0]?.message;
    case 'unrecognized_keys':
      return `there is no setting ${issue.keys.join(', ')} here`;
    case 'too_small':
      return issue.origin === 'string' ? 'must not be empty' : `must be at least ${issue.minimum}`;
    case 'too_big':
      return issue.origin === 'string'
        ? `must not be longer than ${issue.maximum} characters`
        : `must be at most ${issue.maximum}`;
    default:
      return undefined;
  }
};
