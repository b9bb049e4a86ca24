import type { ChoiceIndex } from './choice.ts';

/** What a text may list: one list of members, a part that nobody knows, or two different lists. */
export type MemberReading =
  | { readonly kind: 'members'; readonly members: readonly string[] }
  | { readonly kind: 'unknown'; readonly part: string }
  | { readonly kind: 'ambiguous'; readonly readings: readonly (readonly string[])[] };

type Choices = ChoiceIndex<string>;

export const listSeparator = /[,;\n]/;

/**
 * Reads a list of options in any order, with commas, semicolons or line breaks between. Option names may hold these themselves: then
 * neighbouring parts are tried together, and a text that can be cut into options in two ways is ambiguous. One option a line never is.
 */
export function readMembers(text: string, choices: Choices): MemberReading {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  const named = lines.map((line) => nameOf(line, choices));
  if (named.every((member) => member !== undefined)) return members(named);
  const parts = [...text.matchAll(/[^,;\n]+/g)].filter(([part]) => part.trim() !== '');
  const pieceOf = (start: number, end: number): string | undefined => {
    const last = parts[end - 1];
    const written = text.slice(parts[start]?.index, (last?.index ?? 0) + (last?.[0].length ?? 0));
    // Behind a separator stands the one space that is written there; more of them may belong to a name.
    const member = nameOf(written.replace(/^ /, ''), choices);
    if (member !== undefined || end === start + 1) return member;
    const tidied = parts.slice(start, end).map(([part]) => part.trim());
    return nameOf(tidied.join(', '), choices);
  };
  const readings = readParts(parts.length, pieceOf);
  if (readings.length > 1) return { kind: 'ambiguous', readings };
  if (readings[0]) return members(readings[0]);
  const stuck = parts.find((_, index) => pieceOf(index, index + 1) === undefined) ?? parts[0];
  return { kind: 'unknown', part: stuck?.[0].trim() ?? '' };
}

const members = (list: readonly string[]): MemberReading => ({
  kind: 'members',
  members: [...new Set(list)],
});

function nameOf(text: string, choices: Choices): string | undefined {
  const found = choices.find(text);
  return found.kind === 'one' ? found.id : undefined;
}

/** Up to two different lists that the parts can be read as, from the last part to the first. */
function readParts(count: number, pieceOf: (start: number, end: number) => string | undefined): string[][] {
  const readingsFrom: string[][][] = Array.from({ length: count + 1 }, () => []);
  readingsFrom[count] = [[]];
  for (let start = count - 1; start >= 0; start -= 1) {
    const distinct = new Map<string, string[]>();
    for (let end = start + 1; end <= count; end += 1) {
      const rests = readingsFrom[end] ?? [];
      const member = rests.length > 0 ? pieceOf(start, end) : undefined;
      if (member === undefined) continue;
      for (const rest of rests) {
        const list = [member, ...rest];
        distinct.set(JSON.stringify([...new Set(list)].toSorted()), list);
      }
    }
    readingsFrom[start] = [...distinct.values()].slice(0, 2);
  }
  return readingsFrom[0] ?? [];
}

/** A list, by what its members are called, as a text that is read as the same list: on one line where that is clear, else one a line. */
export function writeMembers(list: readonly string[], choices: Choices): string {
  const known = texts.get(choices) ?? new Map<string, string>();
  texts.set(choices, known);
  const key = JSON.stringify(list);
  const text = known.get(key);
  if (text !== undefined) return text;
  if (known.size >= knownListsMax) known.clear();
  const found = findText(list, choices);
  known.set(key, found);
  return found;
}

/** Lists are the same in many rows, and to read one back takes long. */
const texts = new WeakMap<Choices, Map<string, string>>();
const knownListsMax = 1_000;

function findText(list: readonly string[], choices: Choices): string {
  const names = list.map((member) => choices.label(member) ?? member);
  const onOneLine = names.join(', ');
  if (!choices.labels.some((label) => listSeparator.test(label))) return onOneLine;
  const read = readMembers(onOneLine, choices);
  const isClear = read.kind === 'members' && isSameList(read.members, list);
  return isClear ? onOneLine : names.join('\n');
}

const isSameList = (left: readonly string[], right: readonly string[]): boolean =>
  left.length === right.length && left.every((member, index) => member === right[index]);
