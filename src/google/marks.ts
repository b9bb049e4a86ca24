import { z } from 'zod';
import { isSyncError } from '../core/errors.ts';
import type { Mark, MarkChanges, Marks } from '../sheet/port/instance.ts';
import type { Request, SheetsClient, Spreadsheet } from './client.ts';
import { metadataFields, noteHash, readTags, removeTag, type Stored, writeTag } from './metadata.ts';

/*
 * Google has no lock, but refuses a second entry of developer metadata with an id that is taken. So the mark of the instance that keeps the
 * spreadsheet is created with an id that follows from the one it takes the place of: of two that do so at once, one is refused.
 */

const keeperKey = 'crm-sheet-sync.keeper';
const waitingKey = 'crm-sheet-sync.waiting';

/** The first of the ids that marks of a keeper have, one after the other and then from the first again; the mark of one that waits comes before. */
const firstId = 1_913_724_700;
const idCount = 1_000;

/** Anybody who edits the spreadsheet can write an entry: what is shown of one has to be harmless. */
const word = z.string().regex(/^[\w.:-]{1,253}$/);
const latestMs = 8.64e15;

/** Only what decides has to be there: another version may say less of itself, and keeps the spreadsheet all the same. */
const markShape = z.object({
  count: z.int(),
  instance: z.object({
    id: word,
    host: word.catch('unknown'),
    pid: z.int().catch(0),
    since: z.int().min(0).max(latestMs).catch(0),
    process: word.optional().catch(undefined),
    locks: z.array(word).optional().catch(undefined),
  }),
});

/**
 * An entry that says nothing of the kind still takes the place of a mark, and may be one of another version: it lives as long as what it says
 * is seen to change, and is replaced like any other.
 */
const anyMarkShape = markShape.catch(({ value }) => ({
  count: Number.parseInt(noteHash(JSON.stringify(value ?? null)), 16),
  instance: { id: 'unreadable', host: 'unknown', pid: 0, since: 0 },
}));

type StoredMark = Stored<Mark>;

/** The marks in a spreadsheet, those that count first. More than one of a kind is none of ours. */
export interface StoredMarks {
  readonly keepers: readonly StoredMark[];
  readonly waiting: readonly StoredMark[];
}

export const marksOf = ({ developerMetadata: entries = [] }: Spreadsheet): StoredMarks => ({
  keepers: readTags(entries, { key: keeperKey, shape: anyMarkShape }).toSorted(inOrder),
  waiting: readTags(entries, { key: waitingKey, shape: anyMarkShape }).toSorted(inOrder),
});

/** All instances see the same order, in whichever order Google lists the entries. */
const inOrder = (one: StoredMark, other: StoredMark): number =>
  one.metadataId - other.metadataId || (one.instance.id < other.instance.id ? -1 : 1);

export const marksIn = ({ keepers: [keeper], waiting: [waiting] }: StoredMarks): Marks => ({
  ...(keeper && { keeper: toMark(keeper) }),
  ...(waiting && { waiting: toMark(waiting) }),
});

const toMark = ({ count, instance }: StoredMark): Mark => ({ count, instance });

/** Takes all marks away, as those that a copy of a spreadsheet has of the one it was made of. */
export const removeMarks = ({ keepers, waiting }: StoredMarks): Request[] =>
  [...keepers, ...waiting].map(removeTag);

function changesOf(stored: StoredMarks, { keeper, waiting }: MarkChanges): Request[] {
  return [
    ...(waiting ? changeOf(waitingKey, firstId - 1, stored.waiting, waiting) : []),
    ...(keeper ? changeOf(keeperKey, nextId(stored.keepers[0]), stored.keepers, keeper) : []),
  ];
}

function changeOf(key: string, newId: number, stored: readonly StoredMark[], mark: Mark | 'none'): Request[] {
  if (mark === 'none') return stored.map(removeTag);
  const [first] = stored;
  const kind = { key, shape: markShape };
  if (first?.instance.id === mark.instance.id) return writeTag(kind, first, mark);
  return [...stored.map(removeTag), ...writeTag(kind, undefined, mark, undefined, newId)];
}

function nextId(taken: StoredMark | undefined): number {
  const place = taken ? taken.metadataId - firstId : -1;
  return place < 0 || place >= idCount ? firstId : firstId + ((place + 1) % idCount);
}

const fields = `${metadataFields},sheets.properties.sheetId`;

/** Writes marks to the spreadsheet as it was read last. */
export function createSigner(client: SheetsClient) {
  let stored: StoredMarks = { keepers: [], waiting: [] };

  /** A mark is refused where another one is there by now, which says whose it is; it may be an own one that was late. */
  async function findOther(error: unknown): Promise<StoredMarks> {
    if (!isSyncError(error, 'SHEET_REFUSED')) throw error;
    const marks = marksOf((await client.get(fields)) ?? {});
    if (marks.keepers[0]?.metadataId === stored.keepers[0]?.metadataId) throw error;
    return marks;
  }

  return {
    /** Takes over what a read found. */
    start(marks: StoredMarks): void {
      stored = marks;
    },
    /** What a batch carries along to renew the mark of the keeper. */
    renew: (mark: Mark) =>
      stored.keepers[0]?.instance.id === mark.instance.id ? changesOf(stored, { keeper: mark }) : [],
    async sign(changes: MarkChanges): Promise<Marks> {
      const requests = changesOf(stored, changes);
      if (requests.length > 0)
        stored = await client.batchUpdate(requests, fields, []).then(marksOf, findOther);
      return marksIn(stored);
    },
  };
}
