/** A short name for a text, equal for equal texts: FNV-1a, http://www.isthe.com/chongo/tech/comp/fnv/. */
export function digest(text: string): string {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1)
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193) >>> 0;
  return hash.toString(36);
}
