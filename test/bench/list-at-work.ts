/** The records of a list in the CRM, the oldest first, by numbers that grow. */
export class List {
  readonly present: number[];
  /** When each record was deleted that is gone. */
  readonly goneAt = new Map<number, number>();
  /** Of each record: edits that were not seen yet, the sum of their times, and when it was seen last; never is `NaN`. */
  readonly #unseen: number[];
  readonly #editedAtMs: number[];
  readonly #seenAt: number[];

  constructor(size: number) {
    this.present = Array.from({ length: size }, (_, record) => record);
    this.#unseen = this.present.map(() => 0);
    this.#editedAtMs = this.present.map(() => 0);
    this.#seenAt = this.present.map(() => 0);
  }

  seenAt(record: number): number {
    return this.#seenAt[record] ?? Number.NaN;
  }

  edit(record: number, now: number): void {
    if (this.goneAt.has(record)) return;
    this.#unseen[record]! += 1;
    this.#editedAtMs[record]! += now;
  }

  create(): void {
    this.present.push(this.#unseen.length);
    this.#unseen.push(0);
    this.#editedAtMs.push(0);
    this.#seenAt.push(Number.NaN);
  }

  delete(index: number, now: number): void {
    const [record] = this.present.splice(index, 1);
    if (record !== undefined) this.goneAt.set(record, now);
  }

  /** Shows a page, the newest record first, with those that are new or changed, and how late all that is seen. */
  readPage(page: number, size: number, now: number) {
    const end = Math.max(0, this.present.length - (page - 1) * size);
    const records = this.present.slice(Math.max(0, end - size), end).reverse();
    const changed: number[] = [];
    let [edits, delayMs, oldestMs] = [0, 0, 0];
    for (const record of records) {
      const count = this.#unseen[record]!;
      const seenAt = this.seenAt(record);
      if (count > 0 || Number.isNaN(seenAt)) changed.push(record);
      edits += count;
      delayMs += count * now - this.#editedAtMs[record]!;
      if (!Number.isNaN(seenAt)) oldestMs = Math.max(oldestMs, now - seenAt);
      this.#unseen[record] = 0;
      this.#editedAtMs[record] = 0;
      this.#seenAt[record] = now;
    }
    return { records, changed, edits, delayMs, oldestMs };
  }
}

/** A whole reading of the list: since when, and what it lacks if it did not show it. */
export interface Window {
  readonly begunAt: number;
  covers(id: string): boolean;
}

/** Windows that have to lack a record before it is asked for. */
const windowsToProve = 2;

/** Counts what windows do not show. */
export class Tally {
  readonly counts = {
    ...{ windows: 0, windowMs: 0 },
    /** Present records that windows did not show, those of them that count as missed, and those that would be asked for. */
    ...{ unseen: 0, missed: 0, asked: 0 },
    /** Gone records that would be asked for, after how long altogether, and after how many whole windows at most. */
    ...{ found: 0, foundAfterMs: 0, foundAfterWindows: 0 },
  };
  readonly #list: List;
  /** Of records that were missed: when they were seen last, and in how many windows. */
  readonly #missed = new Map<number, { readonly seenAt: number; readonly times: number }>();
  readonly #startedAt: number[] = [];
  readonly #found = new Set<number>();

  constructor(list: List) {
    this.#list = list;
  }

  endWindow(window: Window, now: number, isMeasured: boolean): void {
    const one = isMeasured ? 1 : 0;
    const { counts } = this;
    this.#startedAt.push(window.begunAt);
    counts.windows += one;
    counts.windowMs += one * (now - window.begunAt);
    for (const record of this.#list.present) {
      if (!(this.#list.seenAt(record) < window.begunAt)) continue;
      counts.unseen += one;
      const times = this.#miss(record, window);
      counts.missed += times > 0 ? one : 0;
      counts.asked += times >= windowsToProve ? one : 0;
    }
    for (const [record, goneAt] of this.#list.goneAt) {
      if (this.#found.has(record) || !(this.#list.seenAt(record) < window.begunAt)) continue;
      if (this.#miss(record, window) < windowsToProve) continue;
      this.#found.add(record);
      counts.found += one;
      counts.foundAfterMs += one * (now - goneAt);
      const windows = one * this.#startedAt.filter((startedAt) => startedAt > goneAt).length;
      counts.foundAfterWindows = Math.max(counts.foundAfterWindows, windows);
    }
  }

  /** In how many windows it was missed since it was seen; 0 where this one does not tell. */
  #miss(record: number, { covers }: Window): number {
    if (!covers(String(record))) return 0;
    const seenAt = this.#list.seenAt(record);
    const before = this.#missed.get(record);
    const times = (before?.seenAt === seenAt ? before.times : 0) + 1;
    this.#missed.set(record, { seenAt, times });
    return times;
  }
}
