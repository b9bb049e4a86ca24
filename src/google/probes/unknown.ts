import { isSyncError } from '../../core/errors.ts';
import type { SheetsClient, Spreadsheet } from '../client.ts';

/** Something that Google does in one of several ways, and no document says in which. */
export interface Unknown<Answer extends string> {
  /** Every answer that there may be, as it is said to users. */
  readonly answers: Readonly<Record<Answer, string>>;
  /** What the adapter goes by as long as it was not found out. */
  readonly safest: NoInfer<Answer>;
  /** Does it on the scratch tab, in one request. */
  readonly ask: (client: SheetsClient) => Promise<Spreadsheet>;
  /** Reads the answer; `undefined` where it is none of those. */
  readonly read: (reply: Spreadsheet) => NoInfer<Answer> | undefined;
  /** What it says that Google refuses the request; nothing where absent. */
  readonly refused?: NoInfer<Answer>;
}

/** The compiler derives the answers from the words for them. */
export const unknown = <Answer extends string>(one: Unknown<Answer>): Unknown<Answer> => one;

/** Errors other than a refusal are thrown: after them nothing is known, not even whether the scratch tab is there. */
export async function findOut<Answer extends string>(
  client: SheetsClient,
  { ask, read, refused }: Unknown<Answer>,
): Promise<Answer | undefined> {
  try {
    return read(await ask(client));
  } catch (error) {
    if (isSyncError(error, 'SHEET_REFUSED')) return refused;
    throw error;
  }
}
