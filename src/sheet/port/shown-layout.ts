import { pauseName } from '../../core/fields/headers.ts';
import type { Layout, TabLayout } from './layout.ts';
import type { ObservedTable, ReadTab } from './table.ts';

/** The layout with the headers that stand above the columns of the tabs that can be read: messages speak of what people see. */
export const showLayout = (layout: Layout, { tabs }: ObservedTable): Layout =>
  layout.map((tab) => {
    const read = tab.entity === 'question' ? undefined : tabs[tab.entity];
    return read?.state === 'read' ? showHeaders(tab, read) : tab;
  });

/** The same for one tab. */
export function showHeaders<Tab extends TabLayout>(layout: Tab, { headers = {} }: ReadTab): Tab {
  const columns = layout.columns.map((column) => ({
    ...column,
    header: headers[column.field] ?? column.header,
  }));
  const { pauseHeader } = layout;
  return {
    ...layout,
    columns,
    ...(pauseHeader === undefined ? {} : { pauseHeader: headers[pauseName] ?? pauseHeader }),
  };
}
