import { describe, expect, test } from 'vitest';
import { SyncError } from '../../src/core/errors.ts';
import type { Mirror } from '../../src/core/mirror.ts';
import { currentLayout } from '../../src/sync/layout.ts';
import { pullCatalog } from '../../src/sync/pull.ts';
import { type LinkStage, openLinkStage } from '../support/link-stage.ts';
import { until } from '../support/until.ts';

const counts = { leads: 6, opportunities: 2, tasks: 2 };

/** A stage whose tabs are laid out. */
async function openLaidOut(): Promise<LinkStage> {
  const stage = await openLinkStage(counts);
  await pullCatalog(stage.link, 'newest');
  await stage.link.table.layOut(currentLayout(stage.link), 'create');
  return stage;
}

const isFilled = async (stage: LinkStage) => (await stage.readSheet())['Leads']?.length === counts.leads;

const editFirstTitle = (stage: LinkStage, text: string) =>
  stage.editSheet({ kind: 'edit', sheet: 'Leads', row: 1, column: 'Title', text });

/** The mirror on a disk that is full as long as `isFull` says so: it can be read and not written. */
function onDisk(mirror: Mirror, isFull: () => boolean): Mirror {
  const written =
    <Given extends unknown[], Answer>(write: (...given: Given) => Answer) =>
    (...given: Given): Answer => {
      if (isFull()) throw new SyncError('STATE_FULL', 'The mirror can not grow.');
      return write(...given);
    };
  return {
    ...mirror,
    transaction: (work) => written(() => mirror.transaction(work))(),
    saveOutboxItem: written(mirror.saveOutboxItem),
    dropOutboxItem: written(mirror.dropOutboxItem),
    saveRecord: written(mirror.saveRecord),
  };
}

describe('an engine', () => {
  test('goes on by itself with an update whose answer met a full disk', async () => {
    const stage = await openLaidOut();
    let isFreed = false;
    const isFull = () => !isFreed && stage.model.requests().some(({ method }) => method === 'PUT');
    const engine = stage.createEngine({ mirror: onDisk(stage.link.mirror, isFull) });
    await engine.start();
    await until('the sheet is filled', () => isFilled(stage));
    await editFirstTitle(stage, 'Typed');
    await until('the full disk is told', async () =>
      engine.problems.list().some(({ code }) => code === 'STATE_FULL'),
    );
    expect(stage.link.mirror.readOutbox()).toMatchObject([{ kind: 'update', state: 'sending' }]);
    isFreed = true;
    await until('nothing is on its way', async () => stage.link.mirror.readOutbox().length === 0);
    await until('all is well', async () => engine.problems.list().length === 0);
  });
});
