/** Marks that nobody sees and that come along when text is copied: zero widths, directions. */
const unseenEnds = /^[\s\p{Cf}]+|[\s\p{Cf}]+$/gu;

/** Comparison form of a label: people may type it in any case, with stray spaces. */
export const labelKey = (text: string): string =>
  text.normalize('NFC').replace(unseenEnds, '').toLowerCase().replace(/\s+/g, ' ');

/** A label that others have or had as well, with what tells it apart. */
export const labelWithId = (label: string, id: string | number): string => `${label} (#${id})`;

/** The id in a label of {@link labelWithId}. */
export const idInLabel = (label: string): string | undefined => /\(#(\d+)\)$/.exec(label)?.[1];
