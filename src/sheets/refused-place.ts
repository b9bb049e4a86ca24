import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/index.js';
import type { SyncError } from '../core/errors.ts';
import type { Request } from './client.ts';

/** Where a request that was refused would have begun. */
interface RefusedPlace {
  readonly sheetId?: number | null | undefined;
  /** Its first cell, where it writes cells one by one. */
  readonly start?: sheets_v4.Schema$GridCoordinate | undefined;
}

/** What the request is about that Google names by its number in the batch; nothing where it names none, or none of a tab. */
export function placeOfRefusal({ message }: SyncError, requests: readonly Request[]): RefusedPlace {
  const [, number] = /requests\[(\d+)\]/.exec(message) ?? [];
  const request = requests[Number(number)] ?? {};
  const start = request.updateCells?.start;
  const range =
    request.insertDimension?.range ??
    request.deleteDimension?.range ??
    request.updateCells?.range ??
    request.copyPaste?.destination ??
    request.setDataValidation?.range ??
    request.repeatCell?.range ??
    request.updateDimensionProperties?.range ??
    request.createDeveloperMetadata?.developerMetadata?.location?.dimensionRange;
  return { sheetId: start?.sheetId ?? range?.sheetId, start };
}
