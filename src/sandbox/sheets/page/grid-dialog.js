/**
 * Asks in a dialog. Resolves with the text of its field when a `value` is given, with the list of those that stay ticked
 * when `choices` are given, else with true; undefined when it is cancelled.
 */
export function ask({ title, text = '', value, choices, confirm = 'OK' }) {
  const dialog = document.createElement('dialog');
  const form = document.createElement('form');
  form.method = 'dialog';
  form.append(element('h2', title), element('p', text));
  const field = value === undefined ? undefined : textField(title, value);
  const boxes = choices?.map(choiceBox) ?? [];
  if (field) form.append(field);
  if (choices) form.append(choiceList(boxes));
  form.append(buttons(confirm));
  dialog.append(form);
  document.body.append(dialog);
  dialog.showModal();
  field?.select();
  return new Promise((resolve) => {
    dialog.addEventListener('close', () => {
      dialog.remove();
      if (dialog.returnValue !== 'confirmed') resolve(undefined);
      else if (field) resolve(field.value);
      else resolve(choices ? choices.filter((_, index) => boxes[index].checked) : true);
    });
  });
}

function element(name, text) {
  const made = document.createElement(name);
  made.textContent = text;
  return made;
}

function textField(title, value) {
  const field = document.createElement('input');
  field.value = value;
  field.setAttribute('aria-label', title);
  field.autocomplete = 'off';
  return field;
}

function choiceBox(choice) {
  const box = document.createElement('input');
  box.type = 'checkbox';
  box.checked = true;
  box.dataset.choice = choice;
  return box;
}

function choiceList(boxes) {
  const list = document.createElement('div');
  list.className = 'choices';
  const all = choiceBox('All');
  all.addEventListener('change', () => {
    for (const box of boxes) box.checked = all.checked;
  });
  for (const box of [all, ...boxes]) {
    const label = document.createElement('label');
    label.append(box, box.dataset.choice === '' ? '(empty)' : box.dataset.choice);
    list.append(label);
  }
  return list;
}

function buttons(confirm) {
  const row = document.createElement('footer');
  const cancel = element('button', 'Cancel');
  cancel.type = 'button';
  cancel.addEventListener('click', () => row.closest('dialog').close());
  const ok = element('button', confirm);
  ok.value = 'confirmed';
  ok.className = 'primary';
  row.append(cancel, ok);
  return row;
}
