import { setTimeout as sleep } from 'node:timers/promises';
import type { Command } from 'commander';
import type { StatusAnswer } from '../app/answers.ts';
import { SyncError } from '../core/errors.ts';
import type { ResyncReport } from '../sync/resync.ts';
import { type CommandContext, exitCodes, print } from './command.ts';
import { callDaemon } from './daemon-client.ts';
import { ProgressLine } from './fill/progress-line.ts';

const askEveryMs = 500;

export function addResyncCommand(program: Command, { environment, finish }: CommandContext): void {
  program
    .command('resync')
    .description('read everything again and bring both sides together, in the running daemon')
    .option('--json', 'print the result as one line of JSON')
    .action(async ({ json }: { json?: true }) => {
      let report = await callDaemon<ResyncReport>(environment, 'POST', '/api/resync');
      const line = new ProgressLine();
      while (report.state === 'running') {
        await sleep(askEveryMs);
        const status = await callDaemon<StatusAnswer>(environment, 'GET', '/api/status');
        const { progress, resync } = status;
        if (!resync) throw new SyncError('DAEMON_REFUSED', 'The daemon was started anew during the resync.');
        report = resync;
        const work = progress.find((each) => each.work === 'resync');
        if (work && !json) line.show({ ...work, startedAt: report.startedAt });
      }
      line.end();
      print(json ? JSON.stringify(report) : describeReport(report));
      if (report.state === 'failed') finish(exitCodes.failed);
    });
}

const plurals: Readonly<Record<string, string>> = {
  lead: 'leads',
  opportunity: 'opportunities',
  task: 'tasks',
  contact: 'contacts',
};

function describeReport(report: ResyncReport): string {
  if (report.state === 'failed') return `The resync failed: ${report.problem}`;
  const seconds = (((report.finishedAt ?? report.startedAt) - report.startedAt) / 1000).toFixed(1);
  const read = Object.entries(report.records).map(
    ([entity, count]) => `${count} ${plurals[entity] ?? entity}`,
  );
  const isSame = report.tableSteps + report.crmWrites + report.waiting + report.unapplied === 0;
  const wrote = isSame
    ? 'Both sides were the same: nothing was written.'
    : `${report.tableSteps} rows and ${report.crmWrites} records of the CRM were written.`;
  const waits =
    report.waiting === 0 ? '' : ` Not done: ${report.waiting}; status says what waits and for whom.`;
  const planned =
    report.unapplied === 0
      ? ''
      : ` To be written: ${report.unapplied} records; see them with plan, and do it with apply.`;
  return `Read ${read.join(', ')} in ${seconds} s. ${wrote}${waits}${planned}`;
}
