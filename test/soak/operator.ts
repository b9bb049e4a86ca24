import { z } from 'zod';
import type { ProcessStage } from '../support/process-stage.ts';
import { findPosition, type Row, readCrm, readTab } from '../support/two-sides.ts';
import { ownerOf } from './people.ts';

const statusShape = z.object({
  waiting: z.array(z.object({ scope: z.string(), what: z.string(), answers: z.array(z.string()) })),
  holds: z.array(z.looseObject({ decision: z.string().optional(), entity: z.string(), reason: z.string() })),
  refusals: z.array(z.looseObject({ reason: z.string(), isIgnored: z.boolean().optional() })),
});

/** Somebody who wants to keep everything answers in this order of preference. */
const preferred = ['restore', 'crm', 'new', 'retry', 'approve'];

/** What was tried so often in vain is given up where it can be. */
const retriesMax = 3;

/** Does what the program asks people for: answers its questions, and mends rows as their Sync cells say. */
export interface Operator {
  /** Answers everything that waits. Says what is left for nobody, or was left until now. */
  answerAll(): Promise<string[]>;
  /** What was done, oldest first. */
  readonly tried: readonly string[];
}

export function hireOperator(stage: ProcessStage): Operator {
  const tried: string[] = [];
  const retries = new Map<string, number>();

  const note = (deed: string) => void tried.push(`${new Date().toISOString()} ${deed}`);

  async function answer(scope: string, answers: readonly string[]): Promise<void> {
    const count = retries.get(scope) ?? 0;
    const isVain = count >= retriesMax && answers.includes('revert');
    const choice = isVain ? 'revert' : preferred.find((each) => answers.includes(each));
    if (choice === undefined) return;
    if (choice === 'retry') retries.set(scope, count + 1);
    const { code, stderr } = await stage.runCommand('answer', scope, choice);
    note(`${scope}: ${choice}${code === 0 ? '' : `, and got ${code}: ${stderr.trim()}`}`);
  }

  /** Only rows of leads are edited, so only those have to be mended. */
  async function mend(reason: string): Promise<void> {
    const rows = await readTab(stage.addresses, 'Leads');
    const row = rows.find(({ Sync }) => String(Sync ?? '').includes(reason));
    if (row?.['ID'] === undefined) return;
    const text = await chooseId(stage, reason, row);
    if (text === undefined) return;
    const position = await findPosition(stage.addresses, 'lead', String(row['ID']));
    await stage.editSheet({ kind: 'edit', sheet: 'Leads', row: position, column: 'ID', text });
    note(`put “${text}” over the ID ${row['ID']}, because the row said: ${reason}`);
  }

  return {
    tried,
    async answerAll() {
      const { stdout } = await stage.runCommand('status', '--json');
      const { holds, refusals, waiting } = statusShape.parse(JSON.parse(stdout));
      for (const { answers, scope } of waiting) await answer(scope, answers);
      const unanswered = holds.flatMap(({ decision, reason }) => (decision ? [] : [reason]));
      for (const reason of unanswered) await mend(reason);
      const refused = refusals.flatMap(({ isIgnored, reason }) => (isIgnored ? [] : [reason]));
      return [...waiting.map(({ scope, what }) => `${scope}: ${what}`), ...unanswered, ...refused];
    },
  };
}

/** What the words at a row say to put into its ID cell; `undefined` where they ask for something else. */
async function chooseId(stage: ProcessStage, reason: string, row: Row): Promise<string | undefined> {
  const candidates = /, and ([\d, ]+)(?: and \d+ more)? may be it/.exec(reason)?.[1]?.split(', ') ?? [];
  if (candidates.length > 0) {
    const owner = ownerOf(row['Title']);
    const { leads } = await readCrm(stage.addresses.crmUrl);
    const own = leads.find(({ id, title }) => candidates.includes(String(id)) && ownerOf(title) === owner);
    return own ? String(own.id) : '';
  }
  const named = /[Pp]ut (\d+) into the ID cell/.exec(reason)?.[1];
  if (named !== undefined) return named;
  return /clear the ID/i.test(reason) ? '' : undefined;
}
