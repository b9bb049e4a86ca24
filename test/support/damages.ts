import type { Plan } from '../../src/sheet/plans/plan.ts';
import { type Cell, emptyCell, numberCell, textCell } from '../../src/sheet/port/cell.ts';
import type { Damage, Suspect } from '../../src/sheet/port/damage.ts';
import { addRow, changeRecord, leadKey, recordOf, rowOf, type SheetRow, type World } from './world.ts';
import { cycle, pull, settle, worldWithLeads } from './world-daemon.ts';

export const bolt = leadKey(2);
export const scope = 'damage:lead-2:w1.0';
export const over = (written: Cell, before: Cell = emptyCell) => ({ written, before });

/** The title of Acme came into the row of Bolt. */
export const hit: Damage = {
  entity: 'lead',
  kind: 'overwritten',
  id: numberCell(2),
  cells: { title: over(textCell('Acme'), textCell('Bolt')) },
  own: {},
};

/** The same where a filter hid that row. */
export const hitUnseen: Damage = {
  ...hit,
  cells: { title: over(textCell('Acme')) },
  isUnseen: true,
};

/** What a write did to a row without an ID. */
export const hitNew: Damage = {
  ...hit,
  id: emptyCell,
  cells: {
    title: over(textCell('Acme'), textCell('Dune')),
    'about.url': over(emptyCell, textCell('https://dune.example')),
    Sync: over(textCell('Synced'), textCell('New row')),
  },
};
export const gone: Damage = { ...hit, kind: 'deleted', cells: { title: over(emptyCell, textCell('Bolt')) } };
export const misplaced: Damage = {
  ...hit,
  kind: 'added',
  id: emptyCell,
  cells: { title: over(textCell('https://acme.example')), 'about.url': over(textCell('Acme')) },
};

/** Lets the daemon know of damage, which could not be undone unless the rest says otherwise. */
export function suspect(world: World, damage: Damage, rest: Partial<Suspect> = {}): Suspect {
  const added: Suspect = {
    id: 'w1.0',
    at: world.clock.now,
    damage,
    state: 'escalated',
    clearReads: 0,
    ...rest,
  };
  world.suspects.set(added.id, added);
  return added;
}

/** Three leads at rest, the second of which shows the title of the first by mistake. */
export async function hitWorld(rest: Partial<Suspect> = {}, damage = hit) {
  const world = await worldWithLeads(['Acme', 'Bolt', 'Corp']);
  const row = rowOf(world, bolt);
  row.cells['title'] = textCell('Acme');
  suspect(world, damage, rest);
  return { world, row };
}

/** The same with a row without an ID. */
export async function hitNewWorld(rest: Partial<Suspect> = {}) {
  const world = await worldWithLeads(['Acme', 'Bolt', 'Corp']);
  const row = addRow(world, 'lead', { title: textCell('Acme') });
  row.sync = textCell('Synced');
  suspect(world, hitNew, rest);
  return { world, row };
}

/** The row of Bolt was added with title and website under each other's column, and a user has put the title right. */
export async function mendedWorld() {
  const world = await worldWithLeads(['Acme', 'Bolt', 'Corp']);
  changeRecord(world, bolt, { 'about.url': 'https://bolt.example' });
  await pull(world);
  await settle(world);
  const row = rowOf(world, bolt);
  row.cells['about.url'] = textCell('Bolt');
  const cells = {
    ID: over(row.id),
    title: over(textCell('https://bolt.example')),
    'about.url': over(textCell('Bolt')),
  };
  suspect(world, { ...misplaced, cells });
  return { world, row };
}

export const cycles = async (world: World, count = 4): Promise<Plan> => {
  for (let turn = 1; turn < count; turn += 1) await cycle(world);
  return await cycle(world);
};
export const boltTitle = (world: World) => recordOf(world, bolt).fields['title'];
export const shown = (row: SheetRow) => row.cells['title'];
export const scopesOf = ({ questions }: Plan) => questions.map((question) => question.scope);
export const writesTo = (plan: Plan, row: SheetRow, world: World) =>
  plan.table.filter(({ write }) => write.kind !== 'append' && world.sheet.lead[write.position - 1] === row);
