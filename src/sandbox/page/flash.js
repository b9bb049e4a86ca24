/** Marks a cell that has just changed; once more from the beginning where it still flashes. */
export function flash(cell) {
  cell.classList.remove('changed');
  // Without a layout in between, the browser sees no class that went and came, and begins nothing anew.
  void cell.offsetWidth;
  cell.classList.add('changed');
  cell.addEventListener('animationend', () => cell.classList.remove('changed'), { once: true });
}
