import { OWNER } from './accounts.ts';
import { type ChoicesBySpreadsheet, choicesFor } from './control/choices.ts';
import { recalculate } from './formulas/recalculate.ts';
import { createIdSource, type IdSource } from './ids.ts';
import { createSpreadsheet, type NewSpreadsheet, type Spreadsheet } from './spreadsheet.ts';
import type { JsonObject } from './wire/json.ts';

/** One file of the account; times are epoch milliseconds. */
export interface StoredFile {
  spreadsheet: Spreadsheet;
  createdAtMs: number;
  modifiedAtMs: number;
  /** Counts up with every change. */
  revision: number;
  owner: string;
  ownerPermissionId: string;
  /** Those of others than the owner. */
  permissions: Permission[];
  /** As Drive shows them. */
  comments: JsonObject[];
  /** The ids of the folders it is in. */
  parents: string[];
  /** In the trash, where it can still be read and written. */
  trashed: boolean;
}

/** What a person, a group, a domain or anyone may do with a file. */
export interface Permission {
  id: string;
  type: 'user' | 'group' | 'domain' | 'anyone';
  role: string;
  emailAddress?: string | undefined;
  domain?: string | undefined;
  allowFileDiscovery?: boolean | undefined;
}

/** All files of the emulated account and where new ids come from. */
export interface Documents {
  files: Map<string, StoredFile>;
  ids: IdSource;
  choices: ChoicesBySpreadsheet;
}

export function createDocuments(seed: number): Documents {
  return { files: new Map(), ids: createIdSource(seed), choices: {} };
}

/** Makes an empty spreadsheet and files it; without an id it gets a new one. */
export function addSpreadsheet(
  documents: Documents,
  sent: Omit<NewSpreadsheet, 'spreadsheetId'> & { spreadsheetId?: string | undefined },
  nowMs: number,
): StoredFile {
  const spreadsheetId = sent.spreadsheetId ?? documents.ids.nextFileId();
  const choices = choicesFor(documents.choices, spreadsheetId);
  const spreadsheet = { ...createSpreadsheet({ ...sent, spreadsheetId }), choices };
  const file: StoredFile = {
    spreadsheet,
    createdAtMs: nowMs,
    modifiedAtMs: nowMs,
    revision: 0,
    owner: OWNER,
    ownerPermissionId: String(documents.ids.nextId()),
    permissions: [],
    comments: [],
    parents: ['root'],
    trashed: false,
  };
  documents.files.set(spreadsheetId, file);
  return file;
}

/** Has all spreadsheets, those of later too, do what was chosen for them. */
export function choose(documents: Documents, choices: ChoicesBySpreadsheet): void {
  documents.choices = choices;
  for (const [spreadsheetId, file] of documents.files) {
    file.spreadsheet = { ...file.spreadsheet, choices: choicesFor(choices, spreadsheetId) };
  }
}

/** Puts a changed spreadsheet in the place of the old one. */
export function storeSpreadsheet(file: StoredFile, spreadsheet: Spreadsheet, nowMs: number): void {
  recalculate(spreadsheet);
  file.spreadsheet = spreadsheet;
  file.modifiedAtMs = nowMs;
  file.revision += 1;
}
