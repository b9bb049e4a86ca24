/** Comparison form of a label: people may type it in any case, with stray spaces. */
export const labelKey = (text: string): string =>
  text.normalize('NFC').trim().toLowerCase().replace(/\s+/g, ' ');
