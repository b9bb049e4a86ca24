import type { Value } from '../core/value.ts';
import type { ColumnType } from '../warehouse/port/layout.ts';

/** Reads the text that a column has; what no value in canonical form can say stays the text it is. */
type Decoder = (text: string) => Value;

const sameText: Decoder = (text) => text;

function decodeWhole(text: string): Value {
  const number = Number(text);
  return Number.isSafeInteger(number) ? number : text;
}

/** The digits of a decimal number without what does not count, and its power of ten. */
function digitsOf(text: string): string | undefined {
  const parts = /^(-?)(\d*)\.?(\d*)(?:e([+-]?\d+))?$/i.exec(text);
  if (!parts) return undefined;
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = parts;
  const digits = `${whole}${fraction}`.replace(/^0+/, '');
  const significant = digits.replace(/0+$/, '');
  if (significant === '') return '0';
  const power = Number(exponent) - fraction.length + (digits.length - significant.length);
  return `${sign}${significant}e${power}`;
}

/** A number only where it is the same decimal: one with more digits than the CRM holds stays text, and so differs from what the CRM has. */
const decodeNumeric: Decoder = (text) => {
  const number = Number(text);
  return Number.isFinite(number) && digitsOf(String(number)) === digitsOf(text) ? number : text;
};

/** `2026-11-25 22:48:20.123+00` in the form of an instant; more than milliseconds stay visible. */
const decodeInstant: Decoder = (text) => {
  const [, day, time, fraction = ''] =
    /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)(?:\.(\d+))?\+00$/.exec(text) ?? [];
  return day === undefined ? text : `${day}T${time}.${fraction.padEnd(3, '0')}Z`;
};

/** Arrays come as JSON. */
const decodeList: Decoder = (text) => {
  const members: unknown = JSON.parse(text);
  const isFlat = Array.isArray(members) && members.every((member) => typeof member === 'string');
  return isFlat ? members : text;
};

export const decoders: Readonly<Record<ColumnType, Decoder>> = {
  text: sameText,
  'text[]': decodeList,
  numeric: decodeNumeric,
  integer: decodeWhole,
  bigint: decodeWhole,
  smallint: decodeWhole,
  boolean: (text) => text === 't',
  date: sameText,
  timestamptz: decodeInstant,
  uuid: sameText,
};

const copyCharacters: Readonly<Record<string, string>> = {
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
};

/** The fields of a line of COPY's text form. */
export const copyFields = (line: string): readonly (string | null)[] =>
  line.includes('\\') ? line.split('\t').map(copyField) : line.split('\t');

const copyField = (field: string): string | null =>
  field === '\\N'
    ? null
    : field.replace(/\\(.)/g, (_all, character: string) => copyCharacters[character] ?? character);
