/** Shows entries of a menu, `{ label, action }` or `{ separator: true }`, at a place of the page. */
export function showMenu(entries, { left, top }) {
  const menu = document.createElement('div');
  menu.className = 'menu';
  menu.popover = 'auto';
  menu.role = 'menu';
  menu.append(...entries.map((entry) => menuItem(entry, menu)));
  menu.addEventListener('toggle', ({ newState }) => newState === 'closed' && menu.remove());
  document.body.append(menu);
  menu.showPopover();
  const { width, height } = menu.getBoundingClientRect();
  menu.style.left = `${Math.max(0, Math.min(left, innerWidth - width - 4))}px`;
  menu.style.top = `${Math.max(0, Math.min(top, innerHeight - height - 4))}px`;
}

function menuItem({ label, action, separator }, menu) {
  if (separator) return document.createElement('hr');
  const item = document.createElement('button');
  item.type = 'button';
  item.role = 'menuitem';
  item.textContent = label;
  item.addEventListener('click', () => {
    menu.hidePopover();
    action();
  });
  return item;
}
