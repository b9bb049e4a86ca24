import { element, find } from './element.js';

const dialog = find('#dialog');

/**
 * Shows a dialog and resolves with what was chosen: `undefined` when it was left.
 * @param {string} title
 * @param {Node[]} content
 * @param {{ label: string, read?: () => unknown } | undefined} action what its button says, and what is answered then; none when there is
 * nothing to do but to read
 * @returns {Promise<unknown>}
 */
export function ask(title, content, action) {
  return new Promise((resolve) => {
    let answer;
    const leave = element(
      'button',
      { type: 'button', onclick: () => dialog.close() },
      action ? 'Cancel' : 'Close',
    );
    const submit = (event) => {
      event.preventDefault();
      answer = action?.read ? action.read() : true;
      dialog.close();
    };
    dialog.replaceChildren(
      element(
        'form',
        { onsubmit: submit },
        element('h2', { id: 'dialog-title' }, title),
        ...content,
        element('p.buttons', {}, leave, action && element('button.main', { type: 'submit' }, action.label)),
      ),
    );
    dialog.onclose = () => resolve(answer);
    dialog.showModal();
  });
}

/** True while a dialog is shown. */
export const isAsking = () => dialog.open;

let hiding;

/** Says briefly what came of a command. Its place is always there, if empty: screen readers tell only what changes in one they know. */
export function tell(words, isProblem = false) {
  const notice = find('#notice');
  notice.textContent = words;
  notice.classList.toggle('problem', isProblem);
  clearTimeout(hiding);
  hiding = setTimeout(() => notice.replaceChildren(), isProblem ? 12_000 : 6_000);
}
