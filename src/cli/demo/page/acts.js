// What the buttons do: what a user does in a side, by the requests that the side's own page sends.

import { readers, rowsOf } from './sides.js';

/** Of so many leads at the top one is taken: their rows are on screen in each pane. */
const topMax = 6;

let done = 0;

export const acts = {
  async edit() {
    const { id, title } = await pickLead();
    await actInSheet(id, { kind: 'edit', column: 'Title', text: retitle(title, 'Edited') });
  },
  async editBoth() {
    const { id, title } = await pickLead();
    await editInCrm(id, { title: retitle(title, 'By sales') });
    await actInSheet(id, { kind: 'edit', column: 'Title', text: retitle(title, 'By the account manager') });
  },
  async deleteRow() {
    const { id } = await pickLoneLead();
    await actInSheet(id, { kind: 'deleteRows' });
  },
};

/** Another title each time, with what is new in front, where a narrow column shows it. */
function retitle(title, mark) {
  return `${mark} ${new Date().toLocaleTimeString('en-GB')} · ${title.split(' · ').at(-1)}`;
}

/** The leads in the sheet from its first row on. */
async function readLeads() {
  const { grid } = await readers.sheet();
  return rowsOf(grid, 'Leads')
    .filter((row) => /^\d+$/.test(row.ID))
    .map((row) => ({ id: Number(row.ID), title: row.Title }));
}

async function pickLead() {
  const leads = (await readLeads()).slice(0, topMax);
  if (leads.length === 0) throw new Error('The sheet has no leads.');
  done += 1;
  return leads[(done - 1) % leads.length];
}

/** A lead that nothing else belongs to: what goes with a record is a story of its own. */
async function pickLoneLead() {
  const { contents } = await readers.crm();
  const owners = new Set([...contents.opportunities, ...contents.tasks].map((record) => record.lead_id));
  const lead = (await readLeads()).find(({ id }) => !owners.has(id));
  if (!lead) throw new Error('Each lead of the sheet has opportunities or tasks.');
  return lead;
}

async function post(path, body) {
  const response = await fetch(path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(await response.text());
}

const editInCrm = (id, fields) =>
  post('/sides/crm/__sandbox/by-hand', { method: 'PUT', path: `/leads/${id}`, body: fields });

/** Does something in the row of a lead, wherever it is by then. */
async function actInSheet(id, action) {
  const { grid } = await readers.sheet();
  const { moves, rows } = grid.sheets.find(({ title }) => title === 'Leads');
  const column = rows[0].findIndex((cell) => cell?.text === 'ID');
  const row = rows.findIndex((cells) => cells[column]?.text === String(id));
  await post('/sides/sheet/__sandbox/person', { ...action, sheet: 'Leads', row, movesSeen: moves });
}
