const LETTER_WIDTH_PX = 7.2;
const CELL_PADDING_PX = 26;
const LEAST_WIDTH_PX = 84;
const MOST_WIDTH_PX = 520;

/** A column's number from the name of its field. */
export function columnNumber(field) {
  return Number(field.slice(1));
}

export function columnLetters(column) {
  const rest = Math.floor(column / 26) - 1;
  return (rest >= 0 ? columnLetters(rest) : '') + String.fromCharCode(65 + (column % 26));
}

/** Wide enough for most of what the column holds, so that sentences can be read. */
export function contentWidth(sheet, column) {
  const lengths = sheet.rows.map(
    (cells) => (cells[column]?.text?.length ?? 0) + (cells[column]?.options ? 3 : 0),
  );
  const widest = Math.max(0, ...lengths) * LETTER_WIDTH_PX + CELL_PADDING_PX;
  return Math.round(Math.min(Math.max(widest, LEAST_WIDTH_PX), MOST_WIDTH_PX));
}

export function headerElement(column, header) {
  const element = document.createElement('div');
  element.className = 'column-title';
  element.dataset.column = column;
  const letters = document.createElement('small');
  letters.textContent = columnLetters(column);
  const text = document.createElement('b');
  text.textContent = header?.text ?? '';
  if (header?.note) element.title = header.note;
  element.append(letters, text);
  return element;
}

export function cellElement(cell) {
  const value = cell.getValue();
  const element = cell.getElement();
  element.dataset.row = cell.getData().row;
  element.dataset.column = columnNumber(cell.getField());
  element.style.backgroundColor = value?.background ?? '';
  element.style.color = value?.color ?? (value?.background ? 'black' : '');
  element.classList.toggle('is-number', value?.isNumber === true);
  element.classList.toggle('is-bold', value?.isBold === true);
  element.classList.toggle('is-wrapped', value?.isWrapped === true);
  element.classList.toggle('is-invalid', value?.isInvalid === true);
  element.classList.toggle('has-note', Boolean(value?.note));
  if (value?.isCheckbox) return checkbox(value);
  const text = document.createElement('span');
  text.className = value?.options && value.text !== '' ? 'choice' : 'text';
  text.textContent = value?.text ?? '';
  if (value?.options) element.classList.add('has-options');
  return text;
}

function checkbox(value) {
  const box = document.createElement('input');
  box.type = 'checkbox';
  box.checked = value.text === 'TRUE';
  box.tabIndex = -1;
  return box;
}

export function noteOrOverflow(cell) {
  const element = cell.getElement().firstElementChild;
  const isCut = element && element.scrollWidth > element.clientWidth;
  return cell.getValue()?.note ?? (isCut ? cell.getValue()?.text : '');
}

const MOVES = {
  Enter: [1, 0],
  Tab: [0, 1],
  ArrowDown: [1, 0],
  ArrowUp: [-1, 0],
  ArrowRight: [0, 1],
  ArrowLeft: [0, -1],
};

/**
 * Edits a text in its cell. `leave(down, right)` goes on to another cell after Enter and Tab, and after the arrows when
 * typing has opened the editor.
 */
export function textEditor({ text, isTypedAhead, onRendered, finish, cancel, leave }) {
  const input = document.createElement('textarea');
  input.rows = 1;
  input.value = text;
  input.setAttribute('aria-label', 'Cell');
  onRendered(() => {
    input.focus();
    input.setSelectionRange(text.length, text.length);
  });
  input.addEventListener('blur', () => finish(input.value));
  input.addEventListener('keydown', (event) => {
    event.stopPropagation();
    const { key, altKey, ctrlKey, shiftKey } = event;
    if (key === 'Escape') cancel();
    if (key === 'Enter' && (altKey || ctrlKey)) {
      event.preventDefault();
      input.setRangeText('\n', input.selectionStart, input.selectionEnd, 'end');
    } else if (key === 'Enter' || key === 'Tab' || (isTypedAhead && key.startsWith('Arrow'))) {
      event.preventDefault();
      finish(input.value);
      const [down, right] = MOVES[key];
      leave(...(shiftKey ? [-down, -right] : [down, right]));
    }
  });
  return input;
}

const SUGGESTIONS_MAX = 8;

/** Edits a text that a list suggests: some letters of a name show those that have them. What is typed beside them is taken as well. */
export function listEditor(names, { text, onRendered, finish, cancel, leave }) {
  const input = document.createElement('input');
  input.value = text;
  input.setAttribute('aria-label', 'Cell');
  const list = document.createElement('ul');
  list.className = 'suggestions';
  list.role = 'listbox';
  const suggest = () => {
    const wanted = input.value.toLowerCase();
    const found = names.filter((name) => name.toLowerCase().includes(wanted)).slice(0, SUGGESTIONS_MAX);
    list.replaceChildren(...found.map((name) => suggestion(name, () => finish(name))));
    const { bottom, left } = input.getBoundingClientRect();
    Object.assign(list.style, { top: `${bottom}px`, left: `${left}px` });
  };
  onRendered(() => {
    document.body.append(list);
    input.focus();
    input.select();
    suggest();
  });
  input.addEventListener('input', suggest);
  input.addEventListener('blur', () => {
    list.remove();
    finish(input.value);
  });
  input.addEventListener('keydown', (event) => {
    event.stopPropagation();
    const chosen = list.querySelector('[aria-selected="true"]');
    if (event.key === 'Escape') cancel();
    if (event.key === 'ArrowDown') {
      event.preventDefault();
      chosen?.setAttribute('aria-selected', 'false');
      (chosen?.nextElementSibling ?? list.firstElementChild)?.setAttribute('aria-selected', 'true');
    } else if (event.key === 'Enter' || event.key === 'Tab') {
      event.preventDefault();
      finish(chosen?.textContent ?? input.value);
      const [down, right] = MOVES[event.key];
      leave(...(event.shiftKey ? [-down, -right] : [down, right]));
    }
  });
  return input;
}

function suggestion(name, choose) {
  const element = document.createElement('li');
  element.role = 'option';
  element.textContent = name;
  element.setAttribute('aria-selected', 'false');
  // A click would take the focus from the cell first, which ends its edit.
  element.addEventListener('mousedown', (event) => {
    event.preventDefault();
    choose();
  });
  return element;
}

export function choiceEditor(value, { onRendered, finish, cancel }) {
  const select = document.createElement('select');
  select.setAttribute('aria-label', 'Choice');
  const choices = new Set(['', value.text, ...value.options]);
  for (const choice of choices) select.add(new Option(choice, choice, false, choice === value.text));
  onRendered(() => {
    select.focus();
    // A browser opens the list only after a person's own click; without one it opens with the space bar.
    if (navigator.userActivation?.isActive) select.showPicker?.();
  });
  select.addEventListener('change', () => finish(select.value));
  select.addEventListener('blur', () => cancel());
  select.addEventListener('keydown', (event) => {
    if (event.key === 'Escape') cancel();
    event.stopPropagation();
  });
  return select;
}
