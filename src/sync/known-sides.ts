import type { Mirror } from '../core/mirror.ts';
import { hasMetColumns } from './layout.ts';
import { readWrites } from './rebase.ts';

/** Whether the mirror holds anything that the CRM said. */
export const knowsCrm = (mirror: Mirror): boolean =>
  mirror.readCatalog() !== undefined ||
  mirror.readSweeps().length > 0 ||
  mirror.readRecords().length > 0 ||
  knowsBoth(mirror);

/** Whether the mirror holds anything that the table said. */
export const knowsTable = (mirror: Mirror): boolean =>
  hasMetColumns(mirror) || readWrites(mirror).length > 0 || knowsBoth(mirror);

/** What is agreed, or on its way from one side to the other, is of both. */
const knowsBoth = (mirror: Mirror): boolean =>
  [mirror.readAgreements(), mirror.readOutbox(), mirror.readOpenWrites(), mirror.readJournal(1)].some(
    ({ length }) => length > 0,
  );
