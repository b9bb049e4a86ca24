import { driveBadRequest } from '../wire/google-error.ts';
import type { Json, JsonObject } from '../wire/json.ts';

/** A term such as `name = 'x'`, `'x' in parents` or `not trashed = true`, and what joins it to the next. */
const TERM =
  /\s*(\()|\s*(\))|\s*\b(and|or|not)\b|\s*("(?:\\.|[^"])*"|'(?:\\.|[^'])*')\s+in\s+(\w+)|\s*(\w+)\s*(!=|<=|>=|=|<|>|contains|in)\s*("(?:\\.|[^"])*"|'(?:\\.|[^'])*'|true|false)/giy;

/**
 * Whether a file meets a query of Drive's `q` parameter. Known are comparisons, `contains`, `in`, `and`, `or`, `not` and
 * brackets. See https://developers.google.com/workspace/drive/api/guides/ref-search-terms
 * @throws GoogleError 400 when the query cannot be read.
 */
export function isNamedBy(file: JsonObject, query: string): boolean {
  if (query.trim() === '') return true;
  TERM.lastIndex = 0;
  const terms: RegExpExecArray[] = [];
  while (TERM.lastIndex < query.trimEnd().length) {
    const match = TERM.exec(query);
    if (!match) throw driveBadRequest('Invalid Value', 'q');
    terms.push(match);
  }
  const isMet = anyOf(file, terms);
  if (terms.length > 0) throw driveBadRequest('Invalid Value', 'q');
  return isMet;
}

/** The three functions below consume terms from the front: alternatives of conjunctions of single terms. */
function anyOf(file: JsonObject, terms: RegExpExecArray[]): boolean {
  let isMet = allOf(file, terms);
  while (terms[0]?.[3]?.toLowerCase() === 'or') {
    terms.shift();
    const isNextMet = allOf(file, terms);
    isMet ||= isNextMet;
  }
  return isMet;
}

function allOf(file: JsonObject, terms: RegExpExecArray[]): boolean {
  let isMet = single(file, terms);
  while (terms[0]?.[3]?.toLowerCase() === 'and') {
    terms.shift();
    const isNextMet = single(file, terms);
    isMet &&= isNextMet;
  }
  return isMet;
}

function single(file: JsonObject, terms: RegExpExecArray[]): boolean {
  const term = terms.shift();
  if (!term) throw driveBadRequest('Invalid Value', 'q');
  const [, opening, , word, member, list, name, operator, value] = term;
  if (word?.toLowerCase() === 'not') return !single(file, terms);
  if (opening) {
    const isMet = anyOf(file, terms);
    if (!terms.shift()?.[2]) throw driveBadRequest('Invalid Value', 'q');
    return isMet;
  }
  if (member && list) return compare(file[list], 'has', unquoted(member));
  if (name && operator && value) return compare(file[name], operator.toLowerCase(), unquoted(value));
  throw driveBadRequest('Invalid Value', 'q');
}

function compare(actual: Json | undefined, operator: string, wanted: string): boolean {
  const texts = Array.isArray(actual) ? actual.map(String) : [String(actual ?? '')];
  const [text = ''] = texts;
  switch (operator) {
    case 'has':
    case 'in':
      return texts.includes(wanted);
    case 'contains':
      return text.toLowerCase().includes(wanted.toLowerCase());
    case '=':
      return text === wanted;
    case '!=':
      return text !== wanted;
    case '<':
      return text < wanted;
    case '<=':
      return text <= wanted;
    case '>':
      return text > wanted;
    default:
      return text >= wanted;
  }
}

function unquoted(quoted: string): string {
  return /^["']/.test(quoted) ? quoted.slice(1, -1).replace(/\\(.)/g, '$1') : quoted.toLowerCase();
}
