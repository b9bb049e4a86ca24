/** What is found for each key; keys for which nothing is are left out. */
export const mapKnown = <Key, From, To>(
  entries: Iterable<readonly [Key, From]>,
  find: (from: From, key: Key) => To | undefined,
): Map<Key, To> =>
  new Map(
    [...entries].flatMap(([key, from]) => {
      const found = find(from, key);
      return found === undefined ? [] : [[key, found] as const];
    }),
  );
