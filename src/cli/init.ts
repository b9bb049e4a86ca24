import type { Command } from 'commander';
import { loadSettings } from '../app/config.ts';
import { openLink } from '../app/link.ts';
import { createLog } from '../app/logger.ts';
import { currentLayout } from '../sync/layout.ts';
import { pullCatalog } from '../sync/pull.ts';
import type { CommandContext } from './command.ts';

export function addInitCommand(program: Command, { environment }: CommandContext): void {
  program
    .command('init')
    .description('lay out the tabs in the spreadsheet; existing content is never changed')
    .action(async () => {
      const settings = loadSettings(environment);
      const { link, close } = openLink(settings, createLog('warn'));
      try {
        await pullCatalog(link, 'newest');
        const layout = currentLayout(link);
        await link.table.layOut(layout, 'create');
        const tabs = layout.map(({ title, columns }) => `${title} (${columns.length} columns)`).join(', ');
        console.log(`The spreadsheet has its tabs: ${tabs}. Next: start the daemon.`);
      } finally {
        close();
      }
    });
}
