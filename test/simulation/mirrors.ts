import type { Mirror } from '../../src/core/mirror.ts';
import { damageOf, readSuspects } from '../../src/sheet/damages.ts';
import { describeCell } from '../../src/sheet/port/cell.ts';
import { type MirrorInMemory, openMirrorInMemory } from '../support/memory-mirror.ts';
import { aliveValues, journalValues } from './invariants.ts';
import type { Operation } from './operation.ts';
import type { People } from './people.ts';
import { forgetGoneNotes } from './rule-notes.ts';
import { tabEntities, typedFields } from './tab-view.ts';

export function backUp(people: People): string {
  people.copy = people.stage.backUp();
  return 'done';
}

/** The mirror's file is gone. */
export const loseMirror = (people: People, operation: Operation): Promise<string> =>
  replaceMirror(people, operation, openMirrorInMemory());

/** The copy that was made last takes the place of the mirror's file. */
export async function putOldMirrorBack(people: People, operation: Operation): Promise<string> {
  return people.copy ? replaceMirror(people, operation, people.copy()) : 'nothing';
}

/**
 * Somebody stops the process and puts another file in the place of its mirror. That takes longer than any request. What only the old one
 * knew is lost with it: what stands in its journal, and what a write of which no reply came has replaced, on either side.
 */
async function replaceMirror(people: People, { how }: Operation, mirror: MirrorInMemory): Promise<string> {
  const { stage } = people;
  // Of a database and a mirror that both went back nobody can know anything.
  if (people.sql?.wentBack === 'database') return 'nothing';
  if (people.sql) people.sql.wentBack = 'mirror';
  people.sql?.forgetMasses();
  const { mirror: old } = stage.link;
  // A delete under way takes also what no column shows.
  const sent = old
    .readOutbox()
    .flatMap(({ base, fields, key, kind }) =>
      kind === 'delete' ? [base, old.findRecord(key)?.fields ?? {}] : [base, fields],
    );
  const known = journalValues(people)
    .union(people.valuesIn(stage.spreadsheet.current(), 'kept too'))
    .union(mendedValues(old))
    .union(new Set(sent.flatMap((fields) => Object.values(fields).map(String))));
  stage.wire.endAll(stage.trueTime(), (index) => ((how >> (index % 16)) & 1) === 1);
  const isWriteOpen = old.readOpenWrites().length > 0;
  stage.isBudgetKnown = false;
  await stage.restart(mirror);
  people.masses.forget();
  forgetGoneNotes(people);
  if (isWriteOpen) {
    people.isOpenWriteLost = true;
    people.own.accept(stage.spreadsheet.current());
  }
  const shown = isWriteOpen ? shownAsTyped(people) : people.valuesIn(stage.spreadsheet.current());
  const seen = aliveValues(people).union(shown);
  const left = seen.union(journalValues(people));
  for (const value of known) if (!left.has(value)) people.withdrawn.add(value);
  return 'and a new start';
}

/** What is still to be given back to rows that writes reached by mistake: of a row that a filter hides, the mirror alone has kept it. */
const mendedValues = (mirror: Mirror): Set<string> =>
  new Set(
    [
      ...mirror.readOpenWrites().flatMap(damageOf),
      ...readSuspects(mirror).map(({ damage }) => damage),
    ].flatMap(({ cells }) => Object.values(cells).map(({ before }) => describeCell(before))),
  );

/** What the columns show into which people type: what a write has put into another one nobody knows any more. */
const shownAsTyped = (people: People): Set<string> =>
  new Set(
    tabEntities.flatMap((entity) =>
      (people.tab(entity)?.rows ?? []).flatMap(({ cells }) =>
        typedFields[entity].map((field) => cells[field] ?? ''),
      ),
    ),
  );
