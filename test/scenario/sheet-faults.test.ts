import { type FaultTable, testFaultTable } from '../support/fault-table.ts';

/* What can go wrong with a spreadsheet that people work in, and where it is seen that nothing is lost or put on another record by it. */

const faults: FaultTable['faults'] = {
  31: 'rows are sorted between our read and our write',
  32: 'a row is inserted, moved or deleted between our read and our write',
  33: 'a row is copied, with its ID',
  34: 'an ID is blanked or overwritten',
  35: 'an ID is pasted from another row',
  36: 'a new row is typed half',
  37: 'a person edits the cell that we write',
  38: 'a header is rewritten, or a column moved',
  39: 'a column is deleted',
  40: 'a tab is deleted, renamed or duplicated',
  41: 'the spreadsheet is deleted, not shared any more, or out of requests',
  42: 'all rows are deleted by accident',
  43: 'a column is filled down by accident',
  44: 'a person takes an edit back after it was sent',
  45: 'rows end early, and empty ones are left out',
  46: 'a read brings a part of the rows only',
  47: 'a cell holds a formula or an error',
  48: 'a text is too long for a cell',
  49: 'cells are hidden, filtered or merged, or there are too many',
  50: 'the spreadsheet has another locale or time zone',
  51: 'a text looks like a number, a date or a formula',
  52: 'a text can be written in several forms of Unicode',
  53: 'an append lands and its answer is lost',
  54: 'a collaborator alters what we write',
  55: 'a second daemon is started, or an automation writes to the same sheet',
};

const elsewhere: FaultTable['elsewhere'] = [
  [
    31,
    'contract/sheet-undo.test.ts',
    'S1 S2 S13: %s leaves every row right, own columns and formulas included, where a user %s at that moment',
  ],
  [
    31,
    'scenario/wrong-delete.test.ts',
    'S4: a row that our own delete took, because rows moved, never deletes its record',
  ],
  [
    38,
    'contract/sheet-undo.test.ts',
    'S1 S2 S13: %s leaves every row right, own columns and formulas included, where a user %s at that moment',
  ],
  [
    45,
    'google/tab.test.ts',
    'a block that begins inside the grid keeps its place, and zeros that are left out are zeros',
  ],
  [
    45,
    'contract/table-contract/reads.ts',
    'blank rows between others are left out, and positions are those of the tab',
  ],
  [49, 'google/tab.test.ts', 'merged cells in a managed column hold the tab, others do not'],
  [
    53,
    'contract/sheet-table-refusals.test.ts',
    '503 and a cut connection are SHEET_UNREACHABLE, and a write is not sent twice',
  ],
  [
    55,
    'process/lifecycle.test.ts',
    'is refused while another daemon uses the state directory, which goes on',
  ],
  [
    55,
    'process/second-daemon.test.ts',
    'a second daemon with a state of its own writes nothing, says who keeps the sheet, and begins when that one stops',
  ],
];

const scenarios = ['rows', 'tabs', 'cells'].map((part) => `scenario/sheet-faults-${part}.test.ts`);

testFaultTable({ faults, scenarios, elsewhere });
