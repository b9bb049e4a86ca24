import { emptyCatalog } from '../core/fields/catalog.ts';
import { findField } from '../core/fields/field.ts';
import { findEditFault } from '../core/merge.ts';
import type { Conflict } from '../core/waiting/waiting.ts';
import { createNames, type Decoded, decode, encode } from './cells/codec.ts';
import { showWhole } from './cells/describe-value.ts';
import { leadChoices, typedNames } from './cells/lead-names.ts';
import { decodeTyped } from './cells/typed-cell.ts';
import { currentLayout, type LayoutLink } from './layout.ts';
import { equalCells, textCell } from './port/cell.ts';
import { columnOf, tabOf } from './port/layout.ts';

/** Reads a text like the cell of the field would be read, and refuses what would be refused there. */
export function readTyped(link: LayoutLink, conflict: Conflict, text: string): Decoded {
  const { mirror } = link;
  const { agreed, crm, field: name, key, table } = conflict;
  const { entity } = key;
  const catalog = mirror.readCatalog() ?? emptyCatalog;
  // No instant can be typed, so the zone does not matter.
  const records = mirror.readRecords();
  const names = {
    ...createNames(catalog, leadChoices(records), 'UTC'),
    ...typedNames({ catalog, records }),
  };
  const tab = tabOf(currentLayout(link), entity);
  const column = tab && columnOf(tab, name);
  const definition = findField(entity, name, catalog);
  if (!column || !definition) return { kind: 'refused', reason: `${name} is not kept the same any more.` };
  const field = { ...definition, header: column.header };
  const cell = textCell(text);
  // What a side has or both had is taken as the row takes it, also where nobody could type it.
  const isKnown = [agreed, crm, table].some((value) => equalCells(cell, encode(field, value, names)));
  const decoded = (isKnown ? decode : decodeTyped)(field, cell, names);
  if (decoded.kind === 'refused') return decoded;
  const fault = findEditFault({ rules: column, field }, crm, decoded.value, (value) =>
    showWhole(field, value, names),
  );
  if (fault !== undefined) return { kind: 'refused', reason: fault };
  return decoded;
}
