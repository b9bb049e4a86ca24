import { once } from '../once.ts';
import { labelKey } from './label-key.ts';

/** What can be named: what people call it, and the text that means it and nothing else. */
export interface Nameable {
  readonly name: string;
  readonly label: string;
}

interface Entry extends Nameable {
  readonly key: string;
}

const suggestionsMax = 3;

/** A column may hold thousands of texts that name nothing, and there may be as many names: each text is compared with so many at most. */
const neighboursMax = 40;
const sharersMax = 80;
const wordsMax = 20;

/** As a label is compared, without accents. */
const foldName = (text: string): string =>
  labelKey(/[^ -~]/.test(text) ? text.normalize('NFD').replace(/\p{M}/gu, '') : text);

const wordsOf = (key: string): readonly string[] => [...new Set(key.match(/[\p{L}\p{N}]+/gu))];

/**
 * Suggests what may be meant by a text that names nothing: the labels of at most three, first those whose name begins with it, then those
 * that have it within, then those that are spelled nearly so; of each the shortest first. The same for names in any order.
 */
export function createSuggester(named: () => readonly Nameable[]): (text: string) => readonly string[] {
  const index = once(() => indexNames(named()));
  const known = new Map<string, readonly string[]>();
  return (text) => {
    const key = foldName(text.replace(/\(?#\d+\)?\s*$/, ''));
    const suggested = known.get(key) ?? (wordsOf(key).length === 0 ? [] : suggest(key, index()));
    known.set(key, suggested);
    return suggested;
  };
}

interface NameIndex {
  /** By key. */
  readonly entries: readonly Entry[];
  /** The keys of the entries, in their order. */
  readonly keys: readonly string[];
  /** In their order. */
  readonly words: readonly string[];
  readonly byWord: ReadonlyMap<string, readonly Entry[]>;
}

function indexNames(named: readonly Nameable[]): NameIndex {
  const entries = named
    .map((each) => ({ ...each, key: foldName(each.name) }))
    .toSorted((one, other) => compare(one.key, other.key) || compare(one.label, other.label));
  const byWord = new Map<string, Entry[]>();
  for (const entry of entries) {
    for (const word of wordsOf(entry.key)) {
      const sharers = byWord.get(word);
      if (sharers) sharers.push(entry);
      else byWord.set(word, [entry]);
    }
  }
  return {
    entries,
    keys: entries.map(({ key }) => key),
    words: [...byWord.keys()].toSorted(compare),
    byWord,
  };
}

const compare = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0);

function suggest(key: string, index: NameIndex): string[] {
  const ranked = candidatesOf(key, index).flatMap((entry) => {
    const rank = rankOf(key, entry.key);
    return rank === undefined ? [] : [{ ...entry, rank }];
  });
  return ranked
    .toSorted(
      (one, other) =>
        one.rank - other.rank ||
        one.key.length - other.key.length ||
        compare(one.key, other.key) ||
        compare(one.label, other.label),
    )
    .slice(0, suggestionsMax)
    .map(({ label }) => label);
}

/** Names that stand near the text in the order of names, where also those stand that begin with it; and names that have its rarest words. */
function candidatesOf(key: string, { byWord, entries, keys, words }: NameIndex): readonly Entry[] {
  const place = placeOf(key, keys);
  const near = entries.slice(Math.max(0, place - neighboursMax), place + neighboursMax);
  const begunBy = (word: string) => {
    const from = placeOf(word, words);
    return words.slice(from, from + wordsMax).filter((each) => each.startsWith(word));
  };
  const sharers = wordsOf(key)
    .flatMap((word) => begunBy(word).map((whole) => byWord.get(whole) ?? []))
    .toSorted((one, other) => one.length - other.length)
    .flatMap((bearers) => bearers.slice(0, sharersMax))
    .slice(0, sharersMax);
  return [...new Set([...near, ...sharers])];
}

/** Returns the index of the text in the sorted texts, or the index at which it would be inserted. */
function placeOf(text: string, sorted: readonly string[]): number {
  let [from, to] = [0, sorted.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if ((sorted[middle] ?? '') < text) from = middle + 1;
    else to = middle;
  }
  return from;
}

/** How well a name fits, the lower the better; `undefined` where it does not. */
function rankOf(key: string, name: string): number | undefined {
  if (name.startsWith(key)) return 0;
  if (name.includes(key)) return 1;
  const editsMax = key.length < 4 ? 0 : key.length < 8 ? 1 : 2;
  const edits = countEdits({ text: key, at: 0 }, { text: name, at: 0 }, editsMax);
  return edits <= editsMax ? 1 + edits : undefined;
}

/** A text from a place on. */
interface Rest {
  readonly text: string;
  readonly at: number;
}

/**
 * How many letters were added, left out, replaced or exchanged with the next one; infinite where it is more than `max`. With so few as are
 * asked for it takes no longer than some readings of the text.
 */
function countEdits(one: Rest, other: Rest, max: number): number {
  let [at, to] = [one.at, other.at];
  const [left, right] = [one.text, other.text];
  while (at < left.length && left[at] === right[to]) {
    at += 1;
    to += 1;
  }
  if (at === left.length && to === right.length) return 0;
  if (max === 0 || Math.abs(left.length - at - (right.length - to)) > max) return Number.POSITIVE_INFINITY;
  const after = (ofOne: number, ofOther: number) =>
    1 + countEdits({ text: left, at: at + ofOne }, { text: right, at: to + ofOther }, max - 1);
  const isExchanged = left[at] === right[to + 1] && left[at + 1] === right[to];
  return Math.min(
    after(1, 1),
    after(1, 0),
    after(0, 1),
    isExchanged ? after(2, 2) : Number.POSITIVE_INFINITY,
  );
}
