import { formattedValue } from '../../src/sandbox/sheets/display/display.ts';
import type { Spreadsheet } from '../../src/sandbox/sheets/spreadsheet.ts';
import { sheetIds } from './spreadsheet.ts';
import { fittingStatuses, type Stage } from './stage.ts';
import { Violation } from './violation.ts';

/** What people wrote beside rows, and where. */
interface NotePeople {
  readonly notes: Set<string>;
  readonly stage: Stage;
}

const notePattern = /^keep R\d+ \d+$/;

/** The notes that stand anywhere in the tab of the leads. */
export function notesIn({ sheets }: Spreadsheet): ReadonlySet<string> {
  const sheet = sheets.find(({ sheetId }) => sheetId === sheetIds.lead);
  const texts = (sheet?.rows ?? []).flatMap((row) => row.map((cell) => formattedValue(cell)));
  return new Set(texts.filter((text) => notePattern.test(text)));
}

/** Whether the lead with the id has one of the statuses that the tab has; of one that is deleted, whether it had by what the daemon last saw. */
export function fitsRule({ crm, link }: Stage, id: string): boolean {
  const lead = crm.records.leads.live().find((each) => String(each.id) === id);
  const known = () => link.mirror.findRecord({ entity: 'lead', id })?.fields['status_name'];
  const status = (lead ? lead.status_name : known()) ?? null;
  return fittingStatuses.some((each) => each === status);
}

/** Somebody did something: what notes it made or took away was meant. */
export function noteNotes({ notes, stage }: NotePeople, before: Spreadsheet, after: Spreadsheet): void {
  if (!stage.hasRule) return;
  const [was, is] = [notesIn(before), notesIn(after)];
  for (const note of was) if (!is.has(note)) notes.delete(note);
  for (const note of is) notes.add(note);
}

/** Another mirror has another history: of rows that went before, nothing tells what stood beside them. */
export function forgetGoneNotes({ notes, stage }: NotePeople): void {
  const left = notesIn(stage.spreadsheet.current());
  for (const note of notes) if (!left.has(note)) notes.delete(note);
}

/** S13: no row with a note left by the rule; with a record that is gone its row goes, and the history keeps the note. */
export function checkNotes({ notes, stage }: NotePeople): void {
  const left = notesIn(stage.spreadsheet.current());
  const told = stage.link.mirror
    .searchJournal({ limit: 100_000 })
    .filter(({ cause }) => !cause.startsWith('left the tab'))
    .flatMap(({ lost }) => Object.values(lost).map(String));
  const gone = [...notes].find((note) => !left.has(note) && !told.includes(note));
  if (gone !== undefined) throw new Violation('S13', `the row with the note “${gone}” left`);
}
