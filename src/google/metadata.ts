import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/index.js';
import { z } from 'zod';
import { labelKey } from '../core/text/label-key.ts';
import { parseJson } from '../core/text/parse-json.ts';
import { tabKinds } from '../sheet/port/layout.ts';
import type { Request } from './client.ts';

type DeveloperMetadata = sheets_v4.Schema$DeveloperMetadata;

/** Field mask of what this file reads of an entry of developer metadata. */
export const metadataFields = 'developerMetadata(metadataId,metadataKey,metadataValue)';

/** The tags of one key, and what they say. */
interface TagKind<Tag> {
  readonly key: string;
  readonly shape: z.ZodType<Tag>;
}

const linkShape = z.object({
  spreadsheetId: z.string(),
  account: z.string(),
  tabs: z.partialRecord(z.enum(tabKinds), z.int()),
  shadow: z.int().optional(),
});

/**
 * What a laid-out spreadsheet says about itself: its own id, by which a copy gives itself away, the CRM account
 * that it belongs to, and the numeric id of the tab of each entity and of our hidden tab.
 */
export type LinkTag = z.infer<typeof linkShape>;

const columnShape = z.object({
  field: z.string(),
  note: z.string().optional(),
  header: z.string().optional(),
  colours: z.int().optional(),
});

/**
 * What a managed column says about itself: what it carries, a hash of the note that we put at its header, and one of what its field was
 * called when the column last had the header that the layout wants; of the Sync column also how many of our colours it was given.
 */
export type ColumnTag = z.infer<typeof columnShape>;

const writeShape = z.object({ run: z.string() });

/** The write that the spreadsheet saw last; empty before the first. */
export type WriteTag = z.infer<typeof writeShape>;

/** A tag as it is stored, with the id by which it is replaced. */
export type Stored<Tag> = Tag & { readonly metadataId: number };

export const linkTags: TagKind<LinkTag> = { key: 'crm-sheet-sync.link', shape: linkShape };
export const columnTags: TagKind<ColumnTag> = { key: 'crm-sheet-sync.column', shape: columnShape };
export const writeTags: TagKind<WriteTag> = { key: 'crm-sheet-sync.write', shape: writeShape };

/** The entries of a key; what is not of the shape was not written by us and is left alone. */
export function readTags<Tag extends object>(
  entries: readonly DeveloperMetadata[],
  { key, shape }: TagKind<Tag>,
): Stored<Tag>[] {
  return entries.flatMap(({ metadataId, metadataKey, metadataValue }) => {
    if (metadataKey !== key || typeof metadataId !== 'number') return [];
    const tag = shape.safeParse(parseJson(metadataValue ?? '')).data;
    return tag ? [{ ...tag, metadataId }] : [];
  });
}

/** Writes the tag of a column; nothing when it stands there already. */
export function tagColumn(
  stored: Stored<ColumnTag> | undefined,
  wanted: ColumnTag,
  sheetId: number,
  index: number,
): Request[] {
  return writeTag(columnTags, stored, wanted, {
    dimensionRange: { sheetId, dimension: 'COLUMNS', startIndex: index, endIndex: index + 1 },
  });
}

/**
 * Values are compared and written in the form of their shape, so that equal tags are equal texts. A new one with an id of its own is refused
 * where that is taken. Returns nothing where the tag is there already.
 */
export function writeTag<Tag>(
  { key: metadataKey, shape }: TagKind<Tag>,
  stored: Stored<Tag> | undefined,
  wanted: Tag,
  location: sheets_v4.Schema$DeveloperMetadataLocation = { spreadsheet: true },
  metadataId?: number,
): Request[] {
  const metadataValue = JSON.stringify(shape.parse(wanted));
  if (!stored) {
    const id = metadataId === undefined ? {} : { metadataId };
    const developerMetadata = { ...id, metadataKey, metadataValue, visibility: 'DOCUMENT', location };
    return [{ createDeveloperMetadata: { developerMetadata } }];
  }
  if (JSON.stringify(shape.parse(stored)) === metadataValue) return [];
  const dataFilters = [filterById(stored.metadataId)];
  const developerMetadata = { metadataValue };
  return [{ updateDeveloperMetadata: { dataFilters, developerMetadata, fields: 'metadataValue' } }];
}

export const removeTag = ({ metadataId }: Stored<unknown>): Request => ({
  deleteDeveloperMetadata: { dataFilter: filterById(metadataId) },
});

const filterById = (metadataId: number): sheets_v4.Schema$DataFilter => ({
  developerMetadataLookup: { metadataId },
});

/** Of headers that are the same to people it is the same. */
export const headerHash = (header: string): string => noteHash(labelKey(header));

/**
 * By which a note is known again that nobody changed: FNV-1a, because it guards nothing but against mistakes and
 * the tags of a tab may hold 30,000 characters together. http://www.isthe.com/chongo/tech/comp/fnv/
 */
export function noteHash(note: string): string {
  let hash = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(note)) hash = Math.imul(hash ^ byte, 0x01000193);
  return (hash >>> 0).toString(16).padStart(8, '0');
}
