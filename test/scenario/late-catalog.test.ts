import { expect, test } from 'vitest';
import { emptyCatalog } from '../../src/core/fields/catalog.ts';
import { once } from '../../src/core/once.ts';
import type { Clock } from '../../src/core/ports.ts';
import { currentLayout } from '../../src/sheet/layout.ts';
import type { Table } from '../../src/sheet/port/port.ts';
import { openLinkStage } from '../support/link-stage.ts';
import { openMirrorInMemory } from '../support/memory-mirror.ts';
import { readSides } from '../support/two-sides.ts';

test('S6: rows are whole where the daemon learns of custom fields while it reads the sheet for the first time', async () => {
  const stage = await openLinkStage({ leads: 12, opportunities: 0, tasks: 0 });
  const before = stage.createEngine();
  await before.pullAll(() => {});
  await stage.link.table.layOut(currentLayout(stage.link), 'create');
  const { table } = stage.link;
  let isFirst = true;
  const slow: Table = {
    ...table,
    async read(layout) {
      const read = await table.read(layout);
      if (isFirst) {
        isFirst = false;
        await engine.pullAll(() => {});
      }
      return read;
    },
  };
  const { mirror } = openMirrorInMemory();
  const engine = stage.createEngine({ mirror, table: slow });
  while ((await engine.cycle()).table.length > 0);

  expect(engine.lastPlan?.conflicts).toEqual([]);
  const { expected, shown } = await readSides(stage.addresses);
  expect(shown).toEqual(expected);
});

test('no column is missed where a custom field comes back while many rows are looked at', async () => {
  const stage = await openLinkStage({ leads: 600, opportunities: 0, tasks: 0 });
  const { clock, mirror } = stage.link;
  await stage.layOut();
  const before = stage.createEngine();
  await before.pullAll(() => {});
  while ((await before.cycle()).table.length > 0);
  const catalog = mirror.readCatalog() ?? emptyCatalog;
  const comeBack = once(() => mirror.saveCatalog(catalog));
  mirror.saveCatalog({ ...catalog, customFields: catalog.customFields.slice(1) });
  const busy: Clock = {
    ...clock,
    async sleep(durationMs, signal) {
      if (durationMs === 0) comeBack();
      await clock.sleep(durationMs, signal);
    },
  };
  const { holds } = await stage.createEngine({ clock: busy }).cycle();
  expect(mirror.readCatalog()).toEqual(catalog);
  expect(holds).toEqual([]);
});
