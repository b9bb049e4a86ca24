/** What a text says as JSON; `undefined` where it is none. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** No true answer of a side nests more than ten levels. */
const depthMax = 64;
/** 50,000 records of 40 fields are half of it. Each value takes up to a hundred bytes of memory once it is read. */
const crmValuesMax = 4_000_000;

/** The same for a text from outside. One that nests deeper, or has more values, than any real answer is not parsed: it may take all memory. */
export const parseForeignJson = (text: string, valuesMax = crmValuesMax): unknown =>
  isBounded(text, valuesMax) ? parseJson(text) : undefined;

const [quote, backslash, comma] = ['"', '\\', ','].map((sign) => sign.charCodeAt(0));
const [bracket, brace] = ['[', '{'].map((sign) => sign.charCodeAt(0));
const [bracketEnd, braceEnd] = [']', '}'].map((sign) => sign.charCodeAt(0));

function isBounded(text: string, valuesMax: number): boolean {
  let [depth, values] = [0, 0];
  for (let at = 0; at < text.length; at += 1) {
    const sign = text.charCodeAt(at);
    if (sign === quote) at = endOfText(text, at);
    else if (sign === comma) values += 1;
    else if (sign === bracketEnd || sign === braceEnd) depth -= 1;
    else if (sign === bracket || sign === brace) {
      depth += 1;
      values += 1;
      if (depth > depthMax || values > valuesMax) return false;
    }
  }
  return values <= valuesMax;
}

/** Where the text ends that begins at a quote. */
function endOfText(text: string, begin: number): number {
  for (let end = text.indexOf('"', begin + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let before = end - 1;
    while (text.charCodeAt(before) === backslash) before -= 1;
    if ((end - before) % 2 === 1) return end;
  }
  return text.length;
}
