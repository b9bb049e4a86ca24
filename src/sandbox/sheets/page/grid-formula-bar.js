import { columnLetters } from '/grid-cells.js';

/** Shows the first selected cell's place and content; `commit(place, text)` follows when the content was changed there. */
export function createFormulaBar(element, { commit, leave }) {
  const place = element.querySelector('span');
  const input = element.querySelector('textarea');
  let shown = { text: '' };

  function finish() {
    if (input.value === shown.text) return;
    const { text, ...target } = shown;
    shown = { ...shown, text: input.value };
    commit(target, input.value);
  }

  input.addEventListener('blur', finish);
  input.addEventListener('keydown', (event) => {
    if (event.key === 'Escape') input.value = shown.text;
    if (event.key !== 'Escape' && (event.key !== 'Enter' || event.altKey)) return;
    event.preventDefault();
    finish();
    leave();
  });

  return {
    /** Leaves alone what is being typed into the bar. */
    show(sheet, area) {
      if (document.activeElement === input) return;
      const cell = area && sheet.rows[area.row]?.[area.column];
      const { row = 0, column = 0, height = 1, width = 1 } = area ?? {};
      const size = height * width > 1 ? ` · ${height} × ${width}` : '';
      place.textContent = area ? `${columnLetters(column)}${row + 1}${size}` : '';
      shown = { sheet: sheet.sheetId, movesSeen: sheet.moves, row, column, text: cell?.typed ?? '' };
      input.value = shown.text;
      input.disabled = !area;
    },
  };
}
