import { idHeader, syncHeader } from '../../core/fields/headers.ts';
import type { TabKind } from '../../sheet/port/layout.ts';
import { tabFields } from '../chosen-tabs.ts';
import type { SheetsClient } from '../client.ts';
import type { ManagedColumn } from '../columns.ts';
import { type Grid, gridFields } from '../grid.ts';
import type { BoundTab } from '../read.ts';
import { readTagged } from '../tabs.ts';
import { meetColumns } from './met-columns.ts';
import type { Batch, PlannedTab, Tabs } from './planned.ts';
import type { Shadow } from './shadow.ts';

/** The tabs of a batch as they are now, those that are gone left out, and the hidden tab where it is still there. */
export async function lookAgain(
  client: SheetsClient,
  batch: Batch,
  shadow: Shadow | undefined,
): Promise<{ readonly tabs: Tabs; readonly shadow: Shadow | undefined }> {
  const there = readTagged((await client.get(tabFields)) ?? {}).grids;
  const ids = [...batch.tabs.values()].map(({ sheetId }) => sheetId);
  const ranges = there.filter(({ sheetId }) => ids.includes(sheetId)).map(({ sheetId }) => ({ sheetId }));
  const { grids } = readTagged(ranges.length > 0 ? ((await client.get(gridFields, ranges)) ?? {}) : {});
  const tabs = [...batch.tabs].flatMap(([kind, planned]): [TabKind, BoundTab][] => {
    const grid = grids.find(({ sheetId }) => sheetId === planned.sheetId);
    return grid ? [[kind, bindAgain(grid, planned)]] : [];
  });
  const hidden = there.find(({ sheetId }) => sheetId === shadow?.sheetId);
  return { tabs: new Map(tabs), shadow: hidden };
}

/** The columns are found by the headers that they were planned under. */
function bindAgain({ merges: _merges, tags: _tags, ...grid }: Grid, planned: PlannedTab): BoundTab {
  const { id = -1, names } = meetColumns(planned, grid.rows[0] ?? []);
  const isField = ([, name]: readonly [number, string]) => name !== idHeader && name !== syncHeader;
  const fields = [...names].filter(isField).map(([index, name]): [string, ManagedColumn] => {
    const kind = planned.columns.fields.get(name)?.kind ?? 'text';
    return [name, { index, kind, header: name }];
  });
  const [sync] = [...names].find(([, name]) => name === syncHeader) ?? [];
  return { ...grid, columns: { id, sync, fields: new Map(fields) } };
}
