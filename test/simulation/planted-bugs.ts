import type { RowStep } from '../../src/core/table.ts';
import type { Plant } from './stage.ts';

/** A known mistake, and within how many runs the simulation has to find it. */
export interface PlantedBug {
  readonly name: string;
  readonly plant: Plant;
  readonly runsMax: number;
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
          write: (steps) =>
            link.table.write(
              steps.map((step): RowStep => {
                if (step.kind === 'append') return step;
                const place = places.get(`${step.entity} ${JSON.stringify(step.idSeen)}`);
                return { ...step, position: place ?? step.position };
              }),
            ),
        },
      };
    },
    runsMax: 60,
  },
  {
    name: 'nobody looks which row a write has reached',
    plant: (link) => ({
      ...link,
      table: {
        ...link.table,
        async write(steps) {
          await link.table.write(steps);
          return { misplaced: [], astray: [], overtyped: [] };
        },
      },
    }),
    runsMax: 150,
  },
];
