import type { TabKind } from '../../src/core/layout.ts';
import { keptSteps, type ObservedTable, type RowStep } from '../../src/core/table.ts';
import type { Plant } from './stage.ts';

/** A known mistake, and within how many runs the simulation has to find it. */
export interface PlantedBug {
  readonly name: string;
  readonly plant: Plant;
  readonly runsMax: number;
  /** Whether it shows only where something goes wrong. */
  readonly hasMishaps?: true;
}

export const plantedBugs: readonly PlantedBug[] = [
  {
    name: 'rows are written where they were first seen',
    plant: (link) => {
      const places = new Map<string, number>();
      return {
        ...link,
        table: {
          ...link.table,
          async read(layout) {
            const table = await link.table.read(layout);
            for (const [entity, tab] of Object.entries(table.tabs)) {
              if (tab.state === 'held') continue;
              for (const { id, position } of tab.rows) {
                const name = `${entity} ${JSON.stringify(id)}`;
                if (!places.has(name)) places.set(name, position);
              }
            }
            return table;
          },
          write: (steps, keeping) =>
            link.table.write(
              steps.map((step): RowStep => {
                if (step.kind === 'append') return step;
                const place = places.get(`${step.entity} ${JSON.stringify(step.idSeen)}`);
                return { ...step, position: place ?? step.position };
              }),
              keeping,
            ),
        },
      };
    },
    runsMax: 60,
  },
  {
    name: 'nobody looks which row a write has reached',
    plant: (link) => {
      let last: ObservedTable | undefined;
      const rowAt = (entity: TabKind, position: number) => {
        const tab = last?.tabs[entity];
        return tab?.state === 'read' ? tab.rows.find((row) => row.position === position) : undefined;
      };
      return {
        ...link,
        table: {
          ...link.table,
          async read(layout) {
            last = await link.table.read(layout);
            return last;
          },
          async write(steps, keeping) {
            const { rows } = await link.table.write(steps, keeping);
            const asRead = keptSteps(steps).flatMap(({ entity, position }, slot) => {
              const [row, kept] = [rowAt(entity, position), rows.get(slot)];
              return row && kept ? [[slot, { ...kept, id: row.id, cells: row.cells }] as const] : [];
            });
            return { rows: new Map(asRead), hits: new Map() };
          },
        },
      };
    },
    runsMax: 150,
  },
  {
    name: 'an update trusts what a list said a minute ago',
    plant: (link) => ({ ...link, times: { ...link.times, rereadAfterMs: 60_000 } }),
    runsMax: 200,
    hasMishaps: true,
  },
  {
    name: 'a create whose outcome nobody knows is looked for at once and never again',
    plant: (link) => ({ ...link, times: { ...link.times, settleMs: 0 } }),
    runsMax: 150,
    hasMishaps: true,
  },
];
