/** Quoted text or the quoted name of a tab. */
const QUOTED = /^(?:"(?:[^"]|"")*"|'(?:[^']|'')*')/;

const OPEN = '({';
const CLOSED = ')}';

/** The parts of an expression between separators outside of quotes, brackets and braces, and the separators. */
export function splitAtTop(
  expression: string,
  isSeparator: (text: string, at: number) => boolean,
): { parts: string[]; separators: string[] } {
  const parts = [''];
  const separators: string[] = [];
  let depth = 0;
  for (let at = 0; at < expression.length; ) {
    const piece = QUOTED.exec(expression.slice(at))?.[0] ?? expression.charAt(at);
    if (OPEN.includes(piece)) depth += 1;
    if (CLOSED.includes(piece)) depth -= 1;
    if (depth === 0 && isSeparator(expression, at)) {
      separators.push(piece);
      parts.push('');
    } else parts[parts.length - 1] += piece;
    at += piece.length;
  }
  return { parts, separators };
}

/** The arguments of a call, as they are written between its brackets. */
export function argumentsOf(inner: string): string[] {
  if (inner.trim() === '') return [];
  return splitAtTop(inner, (text, at) => ',;'.includes(text.charAt(at))).parts;
}

/** A call that is the whole expression; undefined for anything else. */
export function wholeCall(expression: string): { name: string; inner: string } | undefined {
  const [head, name = ''] = /^\s*([A-Z][A-Z0-9_.]*)\s*\(/i.exec(expression) ?? [];
  const end = expression.trimEnd().length - 1;
  if (head === undefined || closingAt(expression, head.length - 1) !== end) return undefined;
  return { name: name.toUpperCase(), inner: expression.slice(head.length, end) };
}

/** Where the bracket at a place is closed; -1 where it is not. */
function closingAt(expression: string, open: number): number {
  let depth = 0;
  for (let at = open; at < expression.length; ) {
    const piece = QUOTED.exec(expression.slice(at))?.[0] ?? expression.charAt(at);
    if (OPEN.includes(piece)) depth += 1;
    if (CLOSED.includes(piece)) depth -= 1;
    if (depth === 0) return at;
    at += piece.length;
  }
  return -1;
}

/** Writes calls of some functions anew, the innermost first. */
export function rewriteCalls(
  expression: string,
  rewrites: Readonly<Record<string, (args: readonly string[]) => string>>,
): string {
  const names = Object.keys(rewrites).join('|');
  const call = new RegExp(`^(${names})\\s*\\(`, 'i');
  let written = '';
  for (let at = 0; at < expression.length; ) {
    const rest = expression.slice(at);
    const [head, name = ''] = /[\w.]$/.test(written) ? [] : (call.exec(rest) ?? []);
    const closing = head === undefined ? -1 : closingAt(expression, at + head.length - 1);
    const rewrite = rewrites[name.toUpperCase()];
    if (head !== undefined && closing >= 0 && rewrite) {
      const inner = rewriteCalls(expression.slice(at + head.length, closing), rewrites);
      written += rewrite(argumentsOf(inner));
      at = closing + 1;
    } else {
      const piece = QUOTED.exec(rest)?.[0] ?? expression.charAt(at);
      written += piece;
      at += piece.length;
    }
  }
  return written;
}
