/** Words in one sentence: `a, b and c`. */
export const listAnd = (words: readonly string[]): string => listWith('and', words);
/** Words in one sentence: `a, b or c`. */
export const listOr = (words: readonly string[]): string => listWith('or', words);

const listWith = (last: 'and' | 'or', words: readonly string[]): string =>
  words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} ${last} ${words.at(-1)}`;
