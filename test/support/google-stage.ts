import type { ChoicesInput } from '../../src/sandbox/sheets/control/choices.ts';
import type { PersonActionInput } from '../../src/sandbox/sheets/people/person-shapes.ts';
import type { LineAnswer } from './crm-line.ts';
import { typeInLeads } from './person-acts.ts';
import { type Depth, openSandboxSheet } from './sandbox-sheet.ts';
import { hearSheet } from './sheet-line.ts';
import { type Fate, ownHeader, type TableStage, type UserAct } from './table-stage.ts';

/** The adapter of Google Sheets on the emulator, and users who work on the spreadsheet. */
export async function openGoogleStage(choices: ChoicesInput, depth: Depth = {}): Promise<TableStage> {
  const sheet = await openSandboxSheet({ choices }, depth);
  const heard = await hearSheet(sheet);
  let fate: Fate | undefined;
  let land = async (): Promise<LineAnswer | undefined> => undefined;
  heard.intercept(async ({ url }, passOn) => {
    if (!url.includes(':batchUpdate') || !fate) return passOn();
    const chosen = fate;
    fate = undefined;
    if (chosen === 'unanswered') await passOn();
    if (chosen === 'late') land = passOn;
    return undefined;
  });
  return {
    table: heard.table,
    openTable: () => sheet.openTable(),
    user: (...acts) => sheet.person(...acts.map(actionOf)),
    beforeNextWrite: (...acts) => sheet.setFaults({ beforeNextWrite: acts.map(actionOf) }),
    setFate(chosen) {
      fate = chosen;
    },
    async land() {
      await land();
    },
    protectLeads: () =>
      sheet.asOwner({
        addProtectedRange: { protectedRange: { range: { sheetId: 0 }, editors: { users: [] } } },
      }),
    async close() {
      await heard[Symbol.asyncDispose]();
      await sheet.close();
    },
  };
}

/** The first column beside those of the layout. */
const ownColumn = 8;

function actionOf(act: UserAct): PersonActionInput {
  const sheet = 'Leads';
  switch (act.kind) {
    case 'type':
      return typeInLeads(act.row, act.header === ownHeader ? ownColumn : act.header, act.text);
    case 'insertRow':
      return { kind: 'insertRows', sheet, row: act.row };
    case 'deleteRow':
      return { kind: 'deleteRows', sheet, row: act.row };
    case 'sort':
      return { kind: 'sort', sheet, column: 'ID', descending: true };
    case 'deleteColumn':
      return { kind: 'deleteColumns', sheet, column: act.header };
    case 'deleteTab':
      return { kind: 'deleteTab', sheet };
  }
}
