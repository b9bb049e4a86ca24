/** Returns the text with a mark in place of a secret. */
export type HideSecret = (text: string) => string;

/**
 * Returns a function that puts the mark in place of a secret, also where the secret is in capitals, percent-encoded, escaped for JSON or HTML,
 * in hexadecimal digits, or in Base64 together with other text.
 */
export function createHider(secret: string, mark: string): HideSecret {
  if (secret === '') return (text) => text;
  const pattern = new RegExp([...codesOf(secret), [...secret].map(writtenAs).join('')].join('|'), 'gi');
  return (text) => text.replace(pattern, mark);
}

/** How JSON, HTML and forms write single characters for short. */
const shortForms: Readonly<Record<string, readonly string[]>> = {
  '"': ['\\"', '&quot;'],
  '\\': ['\\\\'],
  '/': ['\\/', '&sol;'],
  '&': ['&amp;'],
  '<': ['&lt;'],
  '>': ['&gt;'],
  "'": ['&apos;'],
  ' ': ['+'],
};

/** A pattern of a character, and of all that may be written for it. */
function writtenAs(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  const bytes = [...Buffer.from(character)].map((byte) => `%${hexOf(byte, 2)}`).join('');
  const units = [...character.split('')].map((unit) => `\\\\u${hexOf(unit.charCodeAt(0), 4)}`).join('');
  const short = shortForms[character] ?? [];
  const forms = [quoted(character), bytes, units, `&#x0*${hexOf(code, 1)};`, `&#0*${code};`];
  return `(?:${[...short.map(quoted), ...forms].join('|')})`;
}

const hexOf = (number: number, digits: number): string => number.toString(16).padStart(digits, '0');
const quoted = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');

/** Patterns of the secret in encodings of bytes. Of Base64 the part that is the same whatever comes before and behind. */
function codesOf(secret: string): string[] {
  const bytes = Buffer.from(secret);
  const inBase64 = [0, 1, 2].map((offset) => {
    const text = Buffer.concat([Buffer.alloc(offset), bytes])
      .toString('base64')
      .replace(/=+$/, '');
    const isWhole = (offset + bytes.length) % 3 === 0;
    return text.slice(Math.ceil((offset * 4) / 3), isWhole ? undefined : -1);
  });
  const forUrls = inBase64.map((text) => text.replaceAll('+', '-').replaceAll('/', '_'));
  const codes = [bytes.toString('hex'), ...inBase64, ...forUrls];
  // A short piece may be part of any word.
  return [...new Set(codes)].filter(({ length }) => length >= 12).map(quoted);
}
