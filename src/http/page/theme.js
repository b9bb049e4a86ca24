import { capitalize } from './words.js';

const themes = ['auto', 'light', 'dark'];
const isDark = matchMedia('(prefers-color-scheme: dark)');

/** Lets people choose between the system's theme, light and dark; `onChange` is told whenever colours change. */
export function setUpTheme(button, onChange) {
  let chosen = localStorage.getItem('theme') ?? 'auto';
  const show = () => {
    if (chosen === 'auto') delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = chosen;
    button.textContent = `Theme: ${chosen}`;
    button.title = `${capitalize(chosen)} colours; press to change`;
    onChange();
  };
  button.addEventListener('click', () => {
    chosen = themes[(themes.indexOf(chosen) + 1) % themes.length];
    localStorage.setItem('theme', chosen);
    show();
  });
  isDark.addEventListener('change', onChange);
  show();
}
