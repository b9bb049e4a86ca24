import type { Command } from 'commander';
import { loadSettings } from '../app/config.ts';
import { type Erased, type Kept, openSubject } from '../app/subject/subject.ts';
import { SyncError } from '../core/errors.ts';
import { listFew } from '../core/text/cut-text.ts';
import { parseJson } from '../core/text/parse-json.ts';
import { type CommandContext, exitCodes, print } from './command.ts';

/** What is kept of a person: to be given to them, or erased. */
export function addSubjectCommands(program: Command, context: CommandContext): void {
  addErase(program, context);
  addExport(program, context);
}

const whoWords = 'a record by its id, its key like lead-42 or its title; or an e-mail address';

const stopWords =
  '\nThe daemon of the link must be stopped for as long as it takes. With several processes for one link, stop all of them, and run this in the' +
  '\nstate directory of each.';

interface EraseOptions {
  readonly json?: true;
  readonly pastOnly?: true;
  readonly yes?: true;
}

function addErase(program: Command, { environment, finish }: CommandContext): void {
  program
    .command('erase')
    .description('take a person out of all that is kept: mirror, history, backups, hidden tabs, warehouse')
    .argument('<who>', whoWords)
    .option('--past-only', 'of what the CRM still has, erase only the past')
    .option('--yes', 'do it; without it only say what would go')
    .option('--json', 'print the counts as JSON')
    .addHelpText(
      'after',
      `${stopWords} With a lead go its opportunities, tasks and contacts; with an address all records that hold it and every` +
        '\nline of the history that says it. There is no way back. src/manual/data-protection.md says what stays with Google and in logs.',
    )
    .action(async (who: string, { json, pastOnly, yes }: EraseOptions) => {
      const person = openSubject(loadSettings(environment), who);
      try {
        const kept = await person.read();
        const obstacles = person.obstacles(kept, pastOnly ?? false);
        if (obstacles.length > 0) {
          const lines = ['Nothing was erased.', ...obstacles];
          throw new SyncError('ERASE_REFUSED', lines.join(' '), { lines });
        }
        if (!yes) {
          print(json ? JSON.stringify({ counts: countRows(kept) }) : describeKept(kept));
          if (!json) print('Nothing was erased: give --yes to erase it. There is no way back.');
          return;
        }
        const erased = await person.erase();
        print(...(json ? [JSON.stringify(erased)] : describeErased(erased)));
        if (erased.failed.length > 0 || erased.left.length > 0) finish(exitCodes.needsPerson);
      } finally {
        await person.close();
      }
    });
}

function countRows({ hiddenRows, rows, tableRows }: Kept): Readonly<Record<string, number>> {
  const counts = new Map<string, number>();
  for (const { table } of [...rows, ...tableRows]) counts.set(table, (counts.get(table) ?? 0) + 1);
  if (hiddenRows.length > 0) counts.set('hidden tabs', hiddenRows.length);
  return Object.fromEntries(counts);
}

function describeKept(kept: Kept): string {
  const counts = Object.entries(countRows(kept)).map(([table, count]) => `${count} in ${table}`);
  const records = [...kept.subject.keys].join(', ');
  const found =
    counts.length === 0
      ? 'Neither the mirror nor a side keeps anything of this person.'
      : `Rows that are kept${records === '' ? '' : ` of ${records}`}: ${counts.join(', ')}.`;
  return `${found} All copies in backups/ are looked through when it is erased.`;
}

function describeErased({ erased, failed, hiddenTabs, left, rows, tableRows }: Erased): string[] {
  return [
    `Erased: ${rows} rows of the mirror, ${tableRows} of the warehouse. ${erased.length} backups were looked through, and ${hiddenTabs} hidden tabs emptied.`,
    ...failed.map(({ name, reason }) => `The backup ${name} stays as it is: ${reason} Delete it.`),
    ...(left.length > 0 ? [`The person may still be named in: ${listFew(left)}.`] : []),
  ];
}

function addExport(program: Command, { environment }: CommandContext): void {
  program
    .command('export')
    .description('print all that is kept about a person, as JSON')
    .argument('<who>', whoWords)
    .addHelpText('after', stopWords)
    .action(async (who: string) => {
      const person = openSubject(loadSettings(environment), who);
      try {
        const { hiddenRows, rows, subject, tableRows } = await person.read();
        const mirror = rows.map(({ row, table }) => ({ table, ...readable(row) }));
        const warehouse = tableRows.map(({ row, table }) => ({ table, ...row }));
        const report = { records: [...subject.keys], mirror, warehouse, hiddenTabs: hiddenRows };
        print(...JSON.stringify(report, undefined, 2).split('\n'));
      } finally {
        await person.close();
      }
    });
}

/** JSON that is kept as text as what it says, and times as people read them. */
const readable = (row: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    Object.entries(row).map(([name, value]) => {
      if (typeof value === 'number' && /(^at|At|^valid\w+)$/.test(name))
        return [name, new Date(value).toISOString()];
      const parsed = typeof value === 'string' && /^[[{]/.test(value) ? parseJson(value) : undefined;
      return [name, parsed ?? value];
    }),
  );
