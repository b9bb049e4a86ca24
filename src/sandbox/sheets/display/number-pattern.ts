import type { Regional } from './regional.ts';

/** One piece of a section: `digit` holds `0`, `#` or `?`, `text` stands for the whole text of a cell. */
type Token =
  | { kind: 'literal'; text: string }
  | { kind: 'digit'; text: string }
  | { kind: 'point' | 'comma' | 'percent' | 'text' | 'general'; text: string }
  | { kind: 'exponent'; text: string };

type Condition = (value: number) => boolean;

interface Section {
  tokens: readonly Token[];
  /** Such as `[>=100]`; without one the order of the sections decides. */
  condition: Condition | undefined;
}

/** Quoted, escaped, spaced (`_x`), filling (`*x`), bracketed, `General`, an exponent, or a single character. */
const PIECES = /"[^"]*"?|\\.|_.|\*.|\[[^\]]*\]|General|E[+-]0+|./gisu;

const CONDITION = /^\[(<=|>=|<>|<|>|=)(-?[\d.]+)\]$/;

const COMPARE: Record<string, (value: number, limit: number) => boolean> = {
  '<': (value, limit) => value < limit,
  '>': (value, limit) => value > limit,
  '<=': (value, limit) => value <= limit,
  '>=': (value, limit) => value >= limit,
  '<>': (value, limit) => value !== limit,
  '=': (value, limit) => value === limit,
};

const patterns = new Map<string, readonly Section[]>();

/** The sections of a pattern, split at each `;` that is not part of a text. */
function sectionsOf(pattern: string): readonly Section[] {
  const known = patterns.get(pattern);
  if (known) return known;
  const sections: string[][] = [[]];
  for (const piece of pattern.match(PIECES) ?? []) {
    if (piece === ';') sections.push([]);
    else sections.at(-1)?.push(piece);
  }
  const parsed = sections.map((pieces) => ({
    tokens: pieces.flatMap((piece) => tokenOf(piece) ?? []),
    condition: pieces.map(conditionOf).find((condition) => condition !== undefined),
  }));
  patterns.set(pattern, parsed);
  return parsed;
}

function conditionOf(piece: string): Condition | undefined {
  const [, operator = '', limit = ''] = CONDITION.exec(piece) ?? [];
  const compare = COMPARE[operator];
  return compare && ((value) => compare(value, Number(limit)));
}

function tokenOf(piece: string): Token | undefined {
  if (/^general$/i.test(piece)) return { kind: 'general', text: piece };
  if (/^E[+-]0+$/i.test(piece)) return { kind: 'exponent', text: piece };
  switch (piece[0]) {
    case '"':
      return { kind: 'literal', text: piece.replace(/^"|"$/g, '') };
    case '\\':
      return { kind: 'literal', text: piece.slice(1) };
    case '_':
      // As wide as the character, which in plain text is a space.
      return { kind: 'literal', text: ' ' };
    case '*':
      // Fills the width of the column, which a text does not have.
      return undefined;
    case '[': {
      // `[$€-407]` is a symbol; colours, conditions and lengths of time show nothing.
      const [, symbol] = /^\[\$([^\]]*?)(?:-[\dA-F]+)?\]$/i.exec(piece) ?? [];
      return symbol ? { kind: 'literal', text: symbol } : undefined;
    }
    case '0':
    case '#':
    case '?':
      return { kind: 'digit', text: piece };
    case '.':
      return { kind: 'point', text: piece };
    case ',':
      return { kind: 'comma', text: piece };
    case '%':
      return { kind: 'percent', text: piece };
    case '@':
      return { kind: 'text', text: piece };
    default:
      return { kind: 'literal', text: piece };
  }
}

/**
 * A number by a pattern such as `#,##0.00`, `[$€]#,##0.00`, `0%` or `0.00E+00`. Sections are for what is positive, negative and zero; a
 * negative number has no sign in the section of its own.
 */
export function formatNumber(
  value: number,
  pattern: string,
  regional: Regional,
  formatGeneral: (value: number, regional: Regional) => string,
): string {
  const sections = sectionsOf(pattern).filter(({ tokens }) => !tokens.some(({ kind }) => kind === 'text'));
  const [first, negative, zero] = sections;
  const conditional = sections.find(({ condition }) => condition?.(value));
  const ownSection = value < 0 ? negative : value === 0 ? zero : undefined;
  const section = conditional ?? (first?.condition ? (negative ?? first) : (ownSection ?? first));
  if (!section) return formatGeneral(value, regional);
  const isOfItsOwn = !first?.condition && !conditional && section === negative;
  const isSigned = value < 0 && !isOfItsOwn;
  const tokens = section.tokens.map((token) =>
    token.kind === 'general' ? literal(formatGeneral(Math.abs(value), regional)) : token,
  );
  const shown = fill(tokens, Math.abs(value), regional);
  return isSigned && shown !== '' ? `-${shown}` : shown;
}

/** A text by the section of a pattern that is for texts: the fourth, or the last where it shows the text. */
export function formatText(text: string, pattern: string): string {
  const sections = sectionsOf(pattern);
  const last = sections.at(-1);
  const isForText = sections.length > 3 || last?.tokens.some(({ kind }) => kind === 'text');
  if (!last || !isForText) return text;
  return last.tokens.map((token) => (token.kind === 'text' ? text : token.text)).join('');
}

const literal = (text: string): Token => ({ kind: 'literal', text });
const isDigit = ({ kind }: Token): boolean => kind === 'digit';

/** The places for digits of a section, before its point and behind it. */
interface Places {
  point: number;
  first: number;
  last: number;
  decimals: number;
  isGrouped: boolean;
  /** Commas behind the last place before the point or behind all, each of which hides three digits. */
  scale: number;
}

function placesOf(tokens: readonly Token[]): Places {
  const point = tokens.findIndex(({ kind }) => kind === 'point');
  const before = tokens.slice(0, point < 0 ? undefined : point);
  const exponent = tokens.findIndex(({ kind }) => kind === 'exponent');
  const first = before.findIndex(isDigit);
  const last = before.findLastIndex(isDigit);
  const isComma = ({ kind }: Token) => kind === 'comma';
  const commasBehind = (index: number) => {
    const other = tokens.findIndex((token, place) => place > index && !isComma(token));
    return (other < 0 ? tokens.length : other) - index - 1;
  };
  const end = tokens.findLastIndex(isDigit);
  return {
    point,
    first,
    last,
    decimals: point < 0 ? 0 : tokens.slice(point, exponent < 0 ? undefined : exponent).filter(isDigit).length,
    isGrouped: first >= 0 && tokens.slice(first, last).some(isComma),
    scale: (last < 0 ? 0 : commasBehind(last)) + (end > last ? commasBehind(end) : 0),
  };
}

function fill(tokens: readonly Token[], value: number, regional: Regional): string {
  const places = placesOf(tokens);
  if (!tokens.some(isDigit)) return tokens.map(({ text }) => text).join('');
  const percents = tokens.filter(({ kind }) => kind === 'percent').length;
  const scaled = Number((value * 100 ** percents).toPrecision(15)) / 1000 ** places.scale;
  const exponent = tokens.find(({ kind }) => kind === 'exponent')?.text;
  const step = tokens.slice(0, places.last + 1).filter(isDigit).length;
  const power = exponent === undefined ? 0 : powerOf(scaled, step, places.decimals);
  const shown = fixed(shifted(scaled, -power), places.decimals);
  const [whole = '', fraction = ''] = shown.split('.');
  const wholes = wholeDigits(tokens, places, whole === '0' ? '' : whole, regional.group);
  const fractions = fractionDigits(tokens, places.point, fraction);
  return tokens
    .map(({ kind, text }, index) => {
      if (kind === 'digit')
        return (index > places.point && places.point >= 0 ? fractions : wholes).get(index) ?? '';
      if (kind === 'point') return index === places.point ? regional.decimal : text;
      if (kind === 'exponent') return exponentText(text, power);
      // From the first digit on a comma only says how to write the number.
      return kind === 'comma' && index > places.first ? '' : text;
    })
    .join('');
}

/** Rounds halves up, as they are written: more than 15 digits are not known of a number. */
function fixed(value: number, decimals: number): string {
  const known = Number(value.toPrecision(15));
  if (known >= 1e15) return BigInt(known).toString();
  if (known * 10 ** decimals >= 1e15) return known.toFixed(decimals);
  return shifted(Math.round(shifted(known, decimals)), -decimals).toFixed(decimals);
}

/** Moves the decimal point, so that no digit is lost to binary fractions. */
function shifted(value: number, places: number): number {
  const [digits = '', power = '0'] = String(value).split('e');
  return Number(`${digits}e${Number(power) + places}`);
}

/** The power of ten of a number whose whole part has so many places, of which more than one move it in steps of as many. */
function powerOf(value: number, places: number, decimals: number): number {
  if (value === 0) return 0;
  const step = Math.max(1, places);
  const power = Math.floor(Number(value.toExponential().split('e')[1]) / step) * step;
  const isCarried = Number(fixed(shifted(value, -power), decimals)) >= 10 ** step;
  return isCarried ? power + step : power;
}

function exponentText(text: string, power: number): string {
  const digits = String(Math.abs(power)).padStart(text.length - 2, '0');
  return `E${power < 0 ? '-' : text[1] === '+' ? '+' : ''}${digits}`;
}

/** What each place before the point shows, from the last on; the first takes all that is left. */
function wholeDigits(
  tokens: readonly Token[],
  { first, last, isGrouped }: Places,
  digits: string,
  group: string,
): Map<number, string> {
  const shown = new Map<number, string>();
  let rest = digits;
  let count = 0;
  const take = (blank: string): string => {
    const digit = rest.at(-1) ?? blank;
    rest = rest.slice(0, -1);
    const separator = isGrouped && count > 0 && count % 3 === 0 && digit.trim() !== '' ? group : '';
    if (digit !== '') count += 1;
    return digit + separator;
  };
  for (let index = last; index >= Math.max(first, 0); index -= 1) {
    const token = tokens[index];
    if (token?.kind !== 'digit') continue;
    let text = take(blankOf(token));
    while (index === first && rest !== '') text = take('') + text;
    shown.set(index, text);
  }
  return shown;
}

/** What each place behind the point shows; zeros at the end are not needed. */
function fractionDigits(tokens: readonly Token[], point: number, fraction: string): Map<number, string> {
  const shown = new Map<number, string>();
  if (point < 0) return shown;
  const needed = fraction.replace(/0+$/, '').length;
  let place = 0;
  for (const [index, token] of tokens.entries()) {
    if (index <= point || token.kind !== 'digit') continue;
    shown.set(index, place < needed ? (fraction[place] ?? '') : blankOf(token));
    place += 1;
  }
  return shown;
}

function blankOf({ text }: Token): string {
  return text === '0' ? '0' : text === '?' ? ' ' : '';
}
