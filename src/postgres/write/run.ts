import type { Fence } from '../../core/ports.ts';
import type { Keeper, WriteReply } from '../../warehouse/port/port.ts';
import type { Connection, Session } from '../connection.ts';
import { runSetting } from '../ddl/capture/capture.ts';
import { isRowRefusal } from '../errors.ts';
import type { Names } from '../names.ts';
import { writeTransaction } from '../transaction.ts';
import { takeNumber } from './link-row.ts';

/** What all calls of a warehouse share. */
export interface Stage {
  readonly connection: Connection;
  readonly names: Names;
  readonly keeper: Keeper;
  /** Whether versions that are over are kept. */
  readonly hasHistory: boolean;
  /** Whether people edit the tables by SQL. */
  readonly isEditable: boolean;
  readonly fence: Fence | undefined;
}

export type RunEffect = Pick<WriteReply, 'left' | 'added' | 'forgotten'>;

/**
 * Does a write as one run: numbered, noted in the ledger, and kept out where the database is not as the run `after` left it. A constraint that
 * is checked only by the commit names no row: then all is done once more with the constraints checked at once, unless they were from the start.
 */
export function inRun(
  { connection, names, keeper, fence }: Stage,
  run: string,
  after: number,
  work: (session: Session) => Promise<RunEffect>,
  isChecked = false,
): Promise<WriteReply> {
  return connection.use('write to', async (session) => {
    const attempt = (isImmediate: boolean) =>
      writeTransaction(session, { run, fence, settings: runSettings(run) }, async () => {
        const number = await takeNumber(session, names, keeper, run, after);
        if (isImmediate) await session.run('SET CONSTRAINTS ALL IMMEDIATE');
        return { run: number, ...(await work(session)) };
      });
    try {
      return await attempt(isChecked);
    } catch (error) {
      if (isChecked || !isRowRefusal(error, names.syncSchema)) throw error;
      return attempt(true);
    }
  });
}

/** The guards of the tables let through what is done under the name of a run. */
export const runSettings = (run: string) => ({ [runSetting]: run });
