/** The format of the log beside an SQLite file: https://www.sqlite.org/fileformat.html#the_write_ahead_log */
const [headerBytes, frameHeaderBytes] = [32, 24];

/** A page in the log. */
export interface WalFrame {
  readonly page: number;
  /** Where it ends in the log. */
  readonly end: number;
  /** It is the last one of a transaction. */
  readonly isCommit: boolean;
}

export interface WalFile {
  readonly pageBytes: number;
  /** The frames that count, in their order; behind them may stand some of an earlier round. */
  readonly frames: readonly WalFrame[];
}

export function readWal(wal: Buffer): WalFile {
  if (wal.length < headerBytes) return { pageBytes: 0, frames: [] };
  const pageBytes = wal.readUInt32BE(8);
  const salt = wal.subarray(16, 24);
  const frames: WalFrame[] = [];
  for (let start = headerBytes; start + frameHeaderBytes + pageBytes <= wal.length; ) {
    if (!wal.subarray(start + 8, start + 16).equals(salt)) break;
    const end = start + frameHeaderBytes + pageBytes;
    frames.push({ page: wal.readUInt32BE(start), end, isCommit: wal.readUInt32BE(start + 4) > 0 });
    start = end;
  }
  return { pageBytes, frames };
}
