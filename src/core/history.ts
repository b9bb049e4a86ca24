import type { RecordKey } from './record.ts';
import type { JournalEntry } from './state.ts';
import type { FieldName } from './value.ts';

/** A line of the journal with its number. */
export interface HistoryEntry extends JournalEntry {
  readonly id: number;
}

/** A command to the daemon. */
export interface CommandEntry {
  /** Epoch ms. */
  readonly at: number;
  /** The name of the token that it came with. */
  readonly by: string;
  readonly name: string;
  /** What it is about: ids, questions and answers, and no value of a record. */
  readonly about: string;
}

/** Which lines of the journal are meant; what is absent does not matter. */
export interface HistoryQuery {
  readonly key?: RecordKey | undefined;
  readonly field?: FieldName | undefined;
  readonly run?: string | undefined;
  /** Number of one line. */
  readonly id?: number | undefined;
  /** Not before, epoch ms. */
  readonly since?: number | undefined;
  /** Older than the line of this number. */
  readonly before?: number | undefined;
  /** Only so many, the newest. */
  readonly limit?: number | undefined;
  /** Only as many as hold so many bytes together, but at least one. */
  readonly bytesMax?: number | undefined;
}
