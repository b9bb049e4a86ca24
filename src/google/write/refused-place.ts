import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/index.js';
import type { SyncError } from '../../core/errors.ts';
import type { Request } from '../client.ts';

/** Where a request that was refused would have begun. */
interface RefusedPlace {
  readonly sheetId?: number | null | undefined;
  /** Its first cell, where it writes cells one by one. */
  readonly start?: sheets_v4.Schema$GridCoordinate | undefined;
}

/**
 * The ids of the tabs of which a batch copies, or to which it copies back, where that may be why it was refused: for the request that Google
 * names, or for all where it names none.
 */
export function sheetsOfCopies({ message }: SyncError, requests: readonly Request[]): ReadonlySet<number> {
  const [, number] = /requests\[(\d+)\]/.exec(message) ?? [];
  const named = number === undefined ? requests : (requests[Number(number)] ?? []);
  const copies = [named].flat().flatMap(({ copyPaste }) => copyPaste ?? []);
  const ids = copies.flatMap(({ destination, source }) => [source?.sheetId, destination?.sheetId]);
  return new Set(ids.filter((id) => typeof id === 'number'));
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
