import { type Cell, textCell } from '../../src/sheet/port/cell.ts';
import type { Mark } from '../../src/sheet/port/instance.ts';
import type { Layout } from '../../src/sheet/port/layout.ts';
import type { Table } from '../../src/sheet/port/port.ts';
import type { RowStep, WriteResult } from '../../src/sheet/port/table.ts';

const both = { direction: 'both', conflict: 'crm' } as const;

export const sheetLayout: Layout = [
  {
    entity: 'lead',
    title: 'Leads',
    columns: [
      { field: 'title', kind: 'text', header: 'Title', ...both },
      { field: 'status_name', kind: 'lead-status', header: 'Status', labels: ['New', 'Old'], ...both },
      { field: 'about.url', kind: 'text', header: 'Website', ...both },
      { field: 'custom.vip', kind: 'boolean', header: 'VIP', ...both },
      { field: 'custom.met', kind: 'date', header: 'Met', ...both },
      { field: 'created_at', kind: 'instant', header: 'Created', ...both },
    ],
  },
  {
    entity: 'opportunity',
    title: 'Opportunities',
    columns: [{ field: 'value', kind: 'number', header: 'Value', ...both }],
  },
  { entity: 'task', title: 'Tasks', columns: [{ field: 'title', kind: 'text', header: 'Title', ...both }] },
];

/** The layout with other labels in its dropdowns. */
export const relabelled: Layout = sheetLayout.map((tab) => ({
  ...tab,
  columns: tab.columns.map((column) => (column.labels ? { ...column, labels: ['Warm'] } : column)),
}));

export const textIn = (cell: Cell | undefined): string => (cell?.kind === 'text' ? cell.text : '');

export const titled = (title: string): Record<string, Cell> => ({ title: textCell(title) });

export const appendStep = (id: string, cells: Record<string, Cell> = {}): RowStep => ({
  kind: 'append',
  entity: 'lead',
  id: textCell(id),
  sync: textCell('Synced'),
  cells,
});

export const setStep = (
  position: number,
  idSeen: Cell,
  cells: Record<string, Cell>,
): Extract<RowStep, { kind: 'set' }> => ({ kind: 'set', entity: 'lead', position, idSeen, cells });

export const deleteStep = (position: number, id: string): RowStep => ({
  kind: 'delete',
  entity: 'lead',
  position,
  idSeen: textCell(id),
});

/** Prepares and sends a write. */
export const writeSteps = (
  table: Table,
  steps: readonly RowStep[],
  run = 'w1',
  mark?: Mark,
): Promise<WriteResult> => table.write(table.prepare(steps, run, []), () => undefined, mark);
