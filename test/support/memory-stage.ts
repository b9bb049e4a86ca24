import { describeCell, emptyCell, textCell } from '../../src/sheet/port/cell.ts';
import { MemorySheet, type SheetRow } from './memory-table.ts';
import type { TableStage, UserAct } from './table-stage.ts';
import { sheetLayout } from './table-steps.ts';

/** A table in memory, and users who work on it. */
export async function openMemoryStage(): Promise<TableStage> {
  const sheet = new MemorySheet();
  return {
    table: sheet.openTable(),
    openTable: () => sheet.openTable(),
    async user(...acts) {
      for (const act of acts) perform(sheet, act);
    },
    async beforeNextWrite(...acts) {
      sheet.beforeNextWrite = () => {
        for (const act of acts) perform(sheet, act);
      };
    },
    setFate(fate) {
      sheet.fate = fate;
    },
    async land() {
      sheet.land();
    },
    async protectLeads() {
      sheet.protectedTabs.add('lead');
    },
    close: async () => undefined,
  };
}

const blankRow = (): SheetRow => ({ id: emptyCell, sync: emptyCell, cells: {} });

function perform(sheet: MemorySheet, act: UserAct): void {
  const rows = sheet.rows.lead;
  switch (act.kind) {
    case 'type':
      if (act.row > rows.length) rows.push(blankRow());
      if (act.row > 0) type(rows[act.row - 1] ?? blankRow(), act.header, act.text);
      return;
    case 'insertRow':
      rows.splice(act.row - 1, 0, blankRow());
      return;
    case 'deleteRow':
      rows.splice(act.row - 1, 1);
      return;
    case 'sort':
      rows.sort((left, right) => describeCell(right.id).localeCompare(describeCell(left.id)));
      return;
    case 'deleteColumn':
      sheet.hiddenFields.add(fieldOf(act.header) ?? act.header);
      return;
    case 'deleteTab':
      sheet.columns.delete('lead');
      sheet.deletedTabs.add('lead');
      rows.length = 0;
  }
}

const fieldOf = (title: string) => sheetLayout[0]?.columns.find(({ header }) => header === title)?.field;

function type(row: SheetRow, header: string, text: string): void {
  const field = fieldOf(header);
  if (header === 'ID') row.id = textCell(text);
  else if (header === 'Sync') row.sync = textCell(text);
  else if (field) row.cells[field] = textCell(text);
  else row.own = { ...row.own, [header]: textCell(text) };
}
