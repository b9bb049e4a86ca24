/** What a formula shows: a number, a text, or an error cell. */
export type FormulaResult = { numberValue: number } | { stringValue: string } | { errorValue: ErrorValue };

export type ErrorValue = { type: string; message: string };

/** How an error cell is displayed. */
export const ERROR_TEXTS: Record<string, string> = {
  DIVIDE_BY_ZERO: '#DIV/0!',
  N_A: '#N/A',
  NAME: '#NAME?',
  REF: '#REF!',
  VALUE: '#VALUE!',
  ERROR: '#ERROR!',
};

/**
 * Computes arithmetic on plain numbers, a text in quotes, and `NA()`. There is no formula engine: whatever
 * else a person types is kept as it is and shows `#NAME?`, as an unknown function does in Google Sheets. For the
 * same reason references in a formula are not rewritten when rows or columns move.
 */
export function computeFormula(formula: string): FormulaResult {
  const text = formula.slice(1).trim();
  const quoted = /^"((?:[^"]|"")*)"$/.exec(text);
  if (quoted?.[1] !== undefined) return { stringValue: quoted[1].replaceAll('""', '"') };
  if (/^na\(\)$/i.test(text)) return errorResult('N_A', 'Did not find a value.');
  if (/#REF!/.test(text)) return errorResult('REF', 'Reference does not exist.');
  const tokens = text.match(/\d+\.?\d*(?:e[+-]?\d+)?|\.\d+|[-+*/^()]|\S/gi) ?? [];
  const value = sum(tokens);
  if (value === undefined || tokens.length > 0) {
    return errorResult('NAME', 'The sandbox computes arithmetic on numbers only.');
  }
  const isDividedByZero = !Number.isFinite(value);
  return isDividedByZero
    ? errorResult('DIVIDE_BY_ZERO', 'Function DIVIDE parameter 2 cannot be zero.')
    : { numberValue: value };
}

function errorResult(type: string, message: string): FormulaResult {
  return { errorValue: { type, message } };
}

/** The three functions below consume tokens from the front: sums of products of factors. */
function sum(tokens: string[]): number | undefined {
  let value = product(tokens);
  while (value !== undefined && (tokens[0] === '+' || tokens[0] === '-')) {
    const sign = tokens.shift() === '+' ? 1 : -1;
    const next = product(tokens);
    value = next === undefined ? undefined : value + sign * next;
  }
  return value;
}

function product(tokens: string[]): number | undefined {
  let value = factor(tokens);
  while (value !== undefined && (tokens[0] === '*' || tokens[0] === '/')) {
    const isDivision = tokens.shift() === '/';
    const next = factor(tokens);
    if (next === undefined) return undefined;
    value = isDivision ? value / next : value * next;
  }
  return value;
}

function factor(tokens: string[]): number | undefined {
  const token = tokens.shift();
  if (token === '-' || token === '+') {
    const value = factor(tokens);
    return value === undefined || token === '+' ? value : -value;
  }
  if (token === '(') {
    const value = sum(tokens);
    return tokens.shift() === ')' ? value : undefined;
  }
  return token !== undefined && /^[\d.]/.test(token) ? Number(token) : undefined;
}
