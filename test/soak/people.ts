import { z } from 'zod';
import type { LoggedRequest } from '../../src/sandbox/crm/model.ts';
import type { Random } from '../../src/sandbox/crm/random.ts';
import type { PersonActionInput } from '../../src/sandbox/sheets/people/person-shapes.ts';
import type { ProcessStage } from '../support/process-stage.ts';
import { readCrm, type SideAddresses } from '../support/two-sides.ts';

/** People who work on both sides; every text they type is unique and names the record it was meant for. */
export interface People {
  /** Texts that are not to be found any more on purpose: replaced or deleted by a person who saw them. */
  readonly withdrawn: Set<string>;
  readonly typed: Set<string>;
  /** Texts typed in the CRM after the daemon's last look at a record and before its write: the CRM has no way to refuse that one. */
  readonly raced: Set<string>;
  /** Finds the raced among what was typed lately; the CRM remembers its requests for some minutes. */
  noteRaces(): void;
  /** What was done, by kind. */
  readonly done: Map<string, number>;
  /** One of them does one thing. */
  act(): Promise<void>;
}

type OnLeads = PersonActionInput extends infer Action
  ? Action extends { sheet: unknown }
    ? Omit<Action, 'sheet'>
    : never
  : never;

const gridShape = z.object({
  sheets: z.array(
    z.object({
      title: z.string(),
      moves: z.number(),
      rows: z.array(z.array(z.object({ text: z.string() }).nullable())),
    }),
  ),
});

/** The rows of the leads as a person sees them, by header, and how often their lines had moved by then. */
async function readLeads({ sheetsUrl }: SideAddresses) {
  const answer = await fetch(`${sheetsUrl}/__sandbox/grid`);
  const { sheets } = gridShape.parse(await answer.json());
  const { moves = 0, rows = [] } = sheets.find(({ title }) => title === 'Leads') ?? {};
  const [headers = [], ...cells] = rows.map((row) => row.map((cell) => cell?.text ?? ''));
  const named = cells.map(
    (texts): Readonly<Record<string, string>> =>
      Object.fromEntries(headers.map((header, column) => [header, texts[column] ?? ''])),
  );
  const isFilled = (row: Readonly<Record<string, string>>) => Object.values(row).some((text) => text !== '');
  return { moves, rows: named.slice(0, named.findLastIndex(isFilled) + 1) };
}

const tagPattern = /^[ct]\d+ [a-z]+ \d+$/;

/** Which record a typed text was meant for; `undefined` for a text that nobody typed. */
export const ownerOf = (text: unknown): string | undefined =>
  typeof text === 'string' && tagPattern.test(text) ? text.split(' ')[0] : undefined;

export function gatherPeople(stage: ProcessStage, random: Random): People {
  const typed = new Set<string>();
  const withdrawn = new Set<string>();
  const raced = new Set<string>();
  const done = new Map<string, number>();
  let typedInCrm: TypedInCrm[] = [];
  let given = 0;

  const say = (owner: string, word: string) => {
    given += 1;
    const text = `${owner} ${word} ${given}`;
    typed.add(text);
    return text;
  };
  const replace = (text: unknown) => {
    if (typeof text === 'string') withdrawn.add(text);
  };
  const newOwner = () => {
    given += 1;
    return `t${given}`;
  };
  /** A row by grid row, and whom it is about: the owner named in its title, else its ID. */
  async function pickRow() {
    const { moves, rows } = await readLeads(stage.addresses);
    const row = random.integer(1, rows.length);
    const { ID: id = '', Title: title = '' } = rows[row - 1] ?? {};
    const isSettled = /^\d+$/.test(id);
    // Rows may move between a look and what is done then: a person's hand follows them.
    const place = { row, movesSeen: moves };
    return { place, cells: rows[row - 1] ?? {}, isSettled, owner: ownerOf(title) ?? `c${id}`, rows };
  }
  const onLeads = (...todo: OnLeads[]) =>
    stage.editSheet(...todo.map((action) => ({ sheet: 'Leads', ...action }) as PersonActionInput));

  const actions: Readonly<Record<string, { weight: number; run: () => Promise<void> }>> = {
    'type a title': {
      weight: 8,
      async run() {
        const { cells, isSettled, owner, place } = await pickRow();
        if (!isSettled) return;
        replace(cells['Title']);
        await onLeads({ kind: 'edit', ...place, column: 'Title', text: say(owner, 'title') });
      },
    },
    'type a description': {
      weight: 8,
      async run() {
        const { cells, isSettled, owner, place } = await pickRow();
        if (!isSettled) return;
        replace(cells['About']);
        await onLeads({ kind: 'edit', ...place, column: 'About', text: say(owner, 'about') });
      },
    },
    'add a row': {
      weight: 3,
      async run() {
        const { rows } = await pickRow();
        await onLeads({
          kind: 'edit',
          // Right below the last row the daemon may add one since the look, and whoever types there types into that.
          row: rows.length + random.integer(3, 5),
          column: 'Title',
          text: say(newOwner(), 'title'),
        });
      },
    },
    'insert a row': {
      weight: 2,
      async run() {
        const { row } = (await pickRow()).place;
        const text = say(newOwner(), 'title');
        await onLeads({ kind: 'insertRows', row }, { kind: 'edit', row, column: 'Title', text });
      },
    },
    sort: {
      weight: 2,
      run: () =>
        onLeads({
          kind: 'sort',
          column: random.pick(['Title', 'ID', 'Created']),
          descending: random.chance(0.5),
        }),
    },
    'move a column': {
      weight: 1,
      run: () =>
        onLeads({
          kind: 'moveColumns',
          column: random.pick(['About', 'Website', 'Status']),
          to: random.integer(3, 6),
        }),
    },
    'change a lead in the CRM': {
      weight: 8,
      async run() {
        const lead = random.pick((await readCrm(stage.addresses.crmUrl)).leads);
        replace(lead.title);
        const owner = ownerOf(lead.title) ?? `c${lead.id}`;
        const [path, text, from] = [`/leads/${lead.id}`, say(owner, 'title'), Date.now()];
        await stage.editCrm(path, { title: text });
        typedInCrm.push({ path, text, from, to: Date.now() });
      },
    },
    'add a lead to the CRM': {
      weight: 2,
      run: () => stage.addToCrm('/leads', { title: say(newOwner(), 'title') }),
    },
    'delete a lead from the CRM': {
      weight: 1,
      async run() {
        const lead = random.pick((await readCrm(stage.addresses.crmUrl)).leads);
        replace(lead.title);
        replace(lead.meta_data?.about?.description);
        await stage.deleteFromCrm(`/leads/${lead.id}`);
      },
    },
    'delete a row': {
      weight: 1,
      async run() {
        const { cells, isSettled, place } = await pickRow();
        if (!isSettled) return;
        const { leads } = await readCrm(stage.addresses.crmUrl);
        const lead = leads.find(({ id }) => String(id) === cells['ID']);
        // What nobody has read yet goes with its row.
        if (lead?.title !== cells['Title']) replace(cells['Title']);
        if (lead?.meta_data?.about?.description !== cells['About']) replace(cells['About']);
        await onLeads({ kind: 'deleteRows', ...place });
      },
    },
  };
  const lots = Object.entries(actions).flatMap(([name, { weight }]) =>
    Array.from({ length: weight }, () => name),
  );
  return {
    typed,
    withdrawn,
    raced,
    noteRaces() {
      const requests = stage.crmRequests();
      for (const each of typedInCrm) if (isRaced(each, requests)) raced.add(each.text);
      typedInCrm = typedInCrm.filter(({ to }) => to > Date.now() - raceMs);
    },
    done,
    async act() {
      const name = random.pick(lots);
      await actions[name]?.run();
      done.set(name, (done.get(name) ?? 0) + 1);
    },
  };
}

/** Between what moments (epoch ms) the CRM took what somebody typed there. */
interface TypedInCrm {
  readonly path: string;
  readonly text: string;
  readonly from: number;
  readonly to: number;
}

/** A write follows the look it is made for within two seconds, or not at all; a slow CRM adds one to each. */
const raceMs = 5_000;

/** Whether the next write to the record was made for a look at it from before. */
function isRaced({ path, from, to }: TypedInCrm, requests: readonly LoggedRequest[]): boolean {
  const own = requests.filter((request) => request.path === path);
  const write = own.find(({ at, method }) => method !== 'GET' && at >= from && at <= to + raceMs);
  const look = own.findLast(({ at, method }) => method === 'GET' && write !== undefined && at <= write.at);
  return look !== undefined && look.at <= to;
}
