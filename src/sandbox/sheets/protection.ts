import { OWNER } from './accounts.ts';
import { areaOf, type GridRange } from './grid/grid-range.ts';
import { type Overlay, type Sheet, type Spreadsheet, sizeOf } from './spreadsheet.ts';
import { invalidArgument } from './wire/google-error.ts';
import { isJsonObject, type JsonObject } from './wire/json.ts';

/** Whether an account may change what a protection covers; a protection that only warns stops nobody. */
export function mayEdit(protection: Overlay, account: string): boolean {
  return account === OWNER || protection['warningOnly'] === true || usersOf(protection).includes(account);
}

/** The accounts a protection names as its editors. */
export function usersOf(protection: Overlay): string[] {
  const editors = protection['editors'];
  const users = isJsonObject(editors) ? editors['users'] : undefined;
  return Array.isArray(users) ? users.map(String) : [];
}

/** Whether the account would have to ask at all; most spreadsheets have no protection against it. */
export function isLockedOut(spreadsheet: Spreadsheet, account: string): boolean {
  return spreadsheet.sheets.some(({ protectedRanges }) =>
    protectedRanges.some((protection) => !mayEdit(protection, account)),
  );
}

/**
 * Refuses a change that touched what is protected against the account. A protection moves with its cells, so it is the
 * cells under it that are compared: writing to them, sorting across them, inserting lines into them or deleting any of
 * them counts. A blank written over a blank cannot be told and goes through.
 * @throws GoogleError 400 in Google's words.
 */
export function refuseProtected(before: Spreadsheet, after: Spreadsheet, account: string): void {
  for (const sheet of before.sheets) {
    const later = after.sheets.find(({ sheetId }) => sheetId === sheet.sheetId);
    for (const protection of sheet.protectedRanges) {
      if (mayEdit(protection, account)) continue;
      const same = later?.protectedRanges.find(({ id }) => id === protection.id);
      const isIntact =
        later && same && isSameRule(protection, same) && sameCells(sheet, protection, later, same);
      if (!isIntact) {
        throw invalidArgument(
          'You are trying to edit a protected cell or object. ' +
            'Please contact the spreadsheet owner to remove protection if you need to edit.',
        );
      }
    }
  }
}

function isSameRule(one: Overlay, other: Overlay): boolean {
  const withoutPlace = ({ ranges: _, ...rest }: Overlay): JsonObject => rest;
  return JSON.stringify(withoutPlace(one)) === JSON.stringify(withoutPlace(other));
}

function sameCells(before: Sheet, protection: Overlay, after: Sheet, later: Overlay): boolean {
  const [from, to] = [placeOf(before, protection), placeOf(after, later)];
  const height = Math.max(from.endRow - from.startRow, to.endRow - to.startRow);
  const width = Math.max(from.endColumn - from.startColumn, to.endColumn - to.startColumn);
  const open = openPartsOf(before, protection);
  for (let down = 0; down < height; down += 1) {
    const [old, now] = [before.rows[from.startRow + down], after.rows[to.startRow + down]];
    if (old === now && from.startColumn === to.startColumn) continue;
    for (let right = 0; right < width; right += 1) {
      const isChanged = old?.[from.startColumn + right] !== now?.[to.startColumn + right];
      if (isChanged && !open(from.startRow + down, from.startColumn + right)) return false;
    }
  }
  return true;
}

function placeOf(sheet: Sheet, { ranges: [range = {}] }: Overlay) {
  return areaOf(range, sizeOf(sheet));
}

/** A protected tab may leave some of its ranges to everybody. */
function openPartsOf(sheet: Sheet, protection: Overlay): (row: number, column: number) => boolean {
  const listed = protection['unprotectedRanges'];
  const ranges: GridRange[] = Array.isArray(listed) ? listed.filter(isJsonObject) : [];
  const areas = ranges.map((range) => areaOf(range, sizeOf(sheet)));
  return (row, column) =>
    areas.some(
      (area) =>
        row >= area.startRow && row < area.endRow && column >= area.startColumn && column < area.endColumn,
    );
}
