/** Takes a secret out of a text; `mark` stands in its place. */
export type HideSecret = (text: string) => string;

/**
 * Returns a function that finds a secret also in other letters, and as what quotes it may have written it: in percent signs, escapes of JSON,
 * HTML entities, hexadecimal digits or Base64, also with something before it in one code.
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

/** A character, or any of what may be written for it. */
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

/** What a secret is in codes that take it as bytes. Of Base64 what does not depend on what stands before and behind it. */
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
  // So short a piece may be part of any word.
  return [...new Set(codes)].filter(({ length }) => length >= 12).map(quoted);
}
