import { Argument, type Command } from 'commander';
import { loadSettings } from '../app/config.ts';
import { readWarehouseLayout } from '../app/warehouse-layout.ts';
import type { SideComparison } from '../sync/side.ts';
import { type CommandContext, print } from './command.ts';
import { callDaemon } from './daemon-client.ts';
import { describeSources } from './dbt-sources.ts';

interface CompareAnswer {
  readonly sides: readonly (SideComparison & { readonly side: string })[];
}

/** What is about the database alone. */
export function addWarehouseCommand(program: Command, { environment }: CommandContext): void {
  const tasks: Readonly<Record<string, (isJson: boolean) => Promise<string>>> = {
    async sql() {
      return (await readWarehouseLayout(loadSettings(environment))).ddl;
    },
    async dbt() {
      const { database, layout } = await readWarehouseLayout(loadSettings(environment));
      return describeSources(layout, database);
    },
    async audit(isJson) {
      const answer = await callDaemon<CompareAnswer>(environment, 'POST', '/api/compare');
      return isJson ? JSON.stringify(answer) : describeComparisons(answer).join('\n');
    },
  };
  const task = new Argument(
    '<task>',
    "sql prints what makes or completes the schemas, for an administrator to run; dbt prints a sources.yml with the meaning of each column; audit lets the running daemon compare all rows with the CRM's records, write what differs, and count it",
  );
  program
    .command('warehouse')
    .description('print what others need to know of the database, or compare all of its rows')
    .addArgument(task.choices(Object.keys(tasks)))
    .option('--json', 'print the counts of audit as JSON')
    .action(async (name: string, { json = false }: { json?: boolean }) => {
      print(...((await tasks[name]?.(json)) ?? '').split('\n'));
    });
}

function describeComparisons(answer: CompareAnswer): string[] {
  const lines = answer.sides.flatMap(({ side, tables }) =>
    tables.map(
      ({ different, entity, extra, missing, rows }) =>
        `${side}: ${rows} rows of kind ${entity}, ${different} with other values, ${missing} missing, ${extra} too many.`,
    ),
  );
  const count = countDifferences(answer);
  return [
    ...lines,
    count === 0
      ? "All rows were as the CRM's records."
      : 'What differed is in the history and is written again.',
  ];
}

const countDifferences = ({ sides }: CompareAnswer): number =>
  sides
    .flatMap(({ tables }) => tables)
    .reduce((sum, { different, extra, missing }) => sum + different + extra + missing, 0);
