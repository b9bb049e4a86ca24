import type { JournalEntry } from '../../src/core/state.ts';
import { openMirror } from '../../src/sqlite/open.ts';
import type { DaemonProcess } from '../support/daemon-process.ts';
import type { ProcessStage } from '../support/process-stage.ts';
import { readTab } from '../support/two-sides.ts';
import type { Operator } from './operator.ts';
import { ownerOf } from './people.ts';

/** Enough to see what led to it, few enough to be read. */
const [triedMax, linesMax, rowsMax] = [60, 80, 40];

/**
 * What there is to know after an end that is not clean: everything that waits, what the operator tried, the rows that say something, the
 * outbox and the end of the log. It kills the daemon to look into its mirror.
 */
export async function describeEnd(
  stage: ProcessStage,
  daemon: DaemonProcess,
  operator: Operator,
): Promise<string> {
  const status = await stage.runCommand('status', '--json');
  const { stderr, stdout } = await daemon.kill();
  const { mirror } = openMirror({ directory: stage.environment['STATE_DIR'] ?? '' });
  const outbox = mirror.readOutbox().filter(({ state }) => state !== 'done');
  const [decisions, openWrites] = [mirror.readDecisions(), mirror.readOpenWrites()];
  mirror.close();
  const rows = (await readTab(stage.addresses, 'Leads')).filter(
    ({ Sync }) => !/^(?:(?:Changed by|Replaced in) the CRM: .+\. )?Synced /.test(String(Sync ?? '')),
  );
  const parts: Readonly<Record<string, readonly unknown[]>> = {
    'What waits': pickWaiting(status.stdout),
    'The outbox': outbox,
    Decisions: decisions,
    'Open writes': openWrites,
    'Rows that are not synced': rows.slice(0, rowsMax),
    'What the operator tried': operator.tried.slice(-triedMax),
    'The end of the log': `${stdout}${stderr}`.trim().split('\n').slice(-linesMax),
  };
  return Object.entries(parts)
    .map(([title, lines]) => [`== ${title}`, ...lines.map(show)].join('\n'))
    .join('\n');
}

/** What the journal and the CRM tell of the record that a lost text was about. */
export function describeLost(stage: ProcessStage, journal: readonly JournalEntry[], text: string): string {
  const owner = ownerOf(text) ?? '';
  const values = ({ before, after, lost }: JournalEntry) =>
    [before, after, lost].flatMap((fields) => Object.values(fields));
  const lines = journal.filter((line) => values(line).some((value) => ownerOf(value) === owner));
  // An owner from the CRM is called by the id of its record.
  const ids = [...lines.map(({ key }) => key.id), owner.slice(1)];
  const paths = new Set(ids.map((id) => `/leads/${id}`));
  const requests = stage.crmRequests().filter(({ path }) => paths.has(path));
  return [`== “${text}” is lost`, ...lines, ...requests].map(show).join('\n');
}

const show = (line: unknown) => (typeof line === 'string' ? line : JSON.stringify(line));

const waitingParts = ['brakes', 'holds', 'waiting', 'refusals', 'problems', 'restlessRows', 'tabs'];

function pickWaiting(status: string): unknown[] {
  const parts = Object.entries(JSON.parse(status) as Record<string, unknown>);
  return parts.flatMap(([name, content]) => (waitingParts.includes(name) ? [{ [name]: content }] : []));
}
