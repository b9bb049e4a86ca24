// The page around the panes: what just happened, buttons that do something, and on narrow screens one pane at a time.

import { acts } from './acts.js';
import { isText, readers } from './sides.js';
import { createStory } from './story.js';
import { describe } from './words.js';

const lookEveryMs = 250;
const statusEveryMs = 2_000;

const element = (id) => document.getElementById(id);
/** The CRM first. */
const sides = Object.keys(readers).filter((side) => element(`pane-${side}`));
const story = createStory(sides, isText);

/** A text that stays is not set again: who hears the page would hear it again. */
function say(id, text) {
  if (element(id).textContent !== text) element(id).textContent = text;
}

/**
 * Reads the CRM last and takes it first: what came to another side through the CRM is then never found there before. All of a look counts as
 * of one instant. Returns whether all sides were read.
 */
async function look() {
  const shown = new Map();
  for (const side of sides.toReversed()) {
    // Where a side does not answer, the status says what is wrong, and the next look comes soon.
    shown.set(side, await readers[side]().catch(() => undefined));
  }
  const at = performance.now();
  for (const side of sides) if (shown.get(side)) story.observe(side, shown.get(side), at);
  const latest = story.latest();
  if (latest) say('line', describe(latest, sides));
  return sides.every((side) => shown.get(side));
}

const pause = () => new Promise((resolve) => setTimeout(resolve, lookEveryMs));

async function showStatus() {
  try {
    const { tabs, problems } = await (await fetch('/status')).json();
    const sum = (name) => tabs.reduce((total, tab) => total + tab[name], 0);
    const waiting = [
      [sum('pending'), 'pending'],
      [sum('refused'), 'refused'],
      [sum('conflicts'), 'in conflict'],
      [sum('held'), 'held'],
    ].filter(([count]) => count > 0);
    const counts = [[sum('recordsInTable'), 'records in step'], ...waiting];
    say('status', problems[0]?.message ?? counts.map((words) => words.join(' ')).join(', '));
  } catch {
    say('status', 'The daemon does not answer.');
  }
  setTimeout(showStatus, statusEveryMs);
}

const buttons = [...document.querySelectorAll('[data-act]')];
for (const button of buttons)
  button.onclick = async () => {
    for (const one of buttons) one.disabled = true;
    await acts[button.dataset.act]().catch((error) => say('line', error.message));
    for (const one of buttons) one.disabled = false;
    button.focus();
  };

const tabs = [...document.querySelectorAll('nav button')];
for (const tab of tabs)
  tab.onclick = () => {
    for (const one of tabs) {
      one.setAttribute('aria-pressed', String(one === tab));
      element(one.getAttribute('aria-controls')).classList.toggle('chosen', one === tab);
    }
  };

// It knows the custom fields that the others have as well.
await readers.crm().catch(() => undefined);
// Only what changes after the first look at a side is told: until then the page says nothing of how the sides stand.
while (!(await look())) await pause();
showStatus();
for (;;) {
  await pause();
  await look();
}
