/** An element with properties and children; text is only ever text. */
export function make(tag, properties = {}, ...children) {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
}

/** An instant of PostgreSQL to the second; the whole of it is in the title. */
export const shortInstant = (text) => text.replace(/(?:\.\d+)?\+00$/, '');

/** A number of PostgreSQL without the zeros that a quotient has behind its point. */
export const shortNumber = (text) => (text.includes('.') ? text.replace(/\.?0+$/, '') : text);

/** Reads JSON once it is another one than the last time; `undefined` while it is the same. */
export function readerOf(path) {
  let tag = '';
  return async () => {
    const response = await fetch(path, { headers: { 'if-none-match': tag }, cache: 'no-store' });
    if (response.status === 304) return undefined;
    const answer = await response.json();
    if (!response.ok) throw new Error(answer.error);
    tag = response.headers.get('etag') ?? '';
    return answer;
  };
}
