/**
 * Makes an element. Texts become text nodes, so nothing that people typed is ever read as HTML.
 * @param {string} tag with classes behind dots: `p.quiet`
 * @param {Record<string, unknown>} attributes `onclick` and other properties are set, the rest become attributes; `undefined` is left out
 * @param {...(Node | string | undefined)} children
 */
export function element(tag, attributes = {}, ...children) {
  const [name, ...classes] = tag.split('.');
  const made = document.createElement(name);
  if (classes.length > 0) made.classList.add(...classes);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === undefined) continue;
    if (key in made && typeof value !== 'string') made[key] = value;
    else made.setAttribute(key, String(value));
  }
  made.append(...children.filter((child) => child !== undefined));
  return made;
}

export const find = (selector) => document.querySelector(selector);

/**
 * Shows one child per item. A child whose item is still the same is left alone, so that it keeps the focus and what is open in it.
 * @template Item
 * @param {Element} container
 * @param {readonly Item[]} items
 * @param {(item: Item) => string} nameOf
 * @param {(item: Item) => HTMLElement} build
 */
export function showList(container, items, nameOf, build) {
  const before = new Map([...container.children].map((child) => [child.dataset.name, child]));
  const wanted = items.map((item) => {
    const name = nameOf(item);
    const looks = JSON.stringify(item);
    const known = before.get(name);
    if (known?.dataset.looks === looks) return known;
    const made = build(item);
    made.dataset.name = name;
    made.dataset.looks = looks;
    return made;
  });
  const kept = new Set(wanted);
  for (const child of [...container.children]) if (!kept.has(child)) child.remove();
  wanted.forEach((child, index) => {
    if (container.children[index] !== child) container.insertBefore(child, container.children[index] ?? null);
  });
}

const shapes = {
  done: 'm6 12.5 4 4 8-9',
  failed: 'm7 7 10 10M17 7 7 17',
  asks: 'M12 6v7.5M12 17.6v.1',
  moves: 'M6 9.5h11m-3-3 3 3-3 3M18 14.5H7m3-3-3 3 3 3',
  begins: 'M12 6v6l4 2.5',
};

/** A sign that says the same as the word beside it. */
export function symbol(name) {
  const namespace = 'http://www.w3.org/2000/svg';
  const svg = document.createElementNS(namespace, 'svg');
  const path = document.createElementNS(namespace, 'path');
  svg.setAttribute('viewBox', '0 0 24 24');
  svg.setAttribute('aria-hidden', 'true');
  svg.classList.add('symbol', name);
  path.setAttribute('d', shapes[name]);
  svg.append(path);
  return svg;
}
