import type { Random } from '../../src/sandbox/crm/random.ts';

/** How often each thing happens, against the others. */
const weights = {
  proceed: 30,
  advance: 24,
  tick: 5,
  'type a cell': 16,
  'paste a block': 3,
  'clear a cell': 3,
  'sort a tab': 3,
  'sort a part': 2,
  'insert a row': 3,
  'delete a row': 3,
  'move a row': 2,
  'wipe an ID': 1,
  'overwrite an ID': 1,
  'swap two IDs': 1,
  'type beside a wrong ID': 2,
  'type a new row': 3,
  'keep own notes': 3,
  undo: 3,
  'create in the CRM': 3,
  'edit in the CRM': 8,
  'empty in the CRM': 1,
  'delete in the CRM': 2,
  'copy a row': 2,
  'retype a copy': 2,
  'copy over a row': 1,
  'copy several rows': 1,
  'cut a row': 1,
  'move several rows': 1,
  'hide rows': 1,
  'fill down': 1,
  'move a column': 2,
  'insert a column': 2,
  'delete a column': 1,
  'copy a column': 1,
  'rename a header': 2,
  'rename a tab': 1,
  'copy a tab': 1,
} as const;

/** How often each thing goes wrong, against the others. */
const mishapWeights = {
  'lose a request': 2,
  'lose an answer': 3,
  'carry out late': 2,
  'arrive late': 3,
  'slow the line down': 3,
  'break the CRM': 3,
  'shift the pages': 2,
  redo: 2,
  'delete many rows': 2,
  'delete many in the CRM': 2,
  'flush the queue': 1,
  'set the clock': 1,
  crash: 2,
  'change the settings': 1,
  'back up the mirror': 1,
  'lose the mirror': 1,
  'put an old mirror back': 1,
  'answer questions': 4,
} as const;

/** What users do about the rule of a tab, against the others. */
const ruleWeights = {
  'set a status in the CRM': 12,
  'type a status': 6,
  'put a row back': 8,
  'write a note': 4,
  'clear a note': 3,
  'wait for minutes': 8,
} as const;

/** What users do to the tables of a database, against the others. */
const sqlWeights = {
  'edit by SQL': 14,
  'edit twice by SQL': 3,
  'edit in sheet and SQL': 6,
  'insert by SQL': 5,
  'delete by SQL': 4,
  'replace by SQL': 3,
  'edit many by SQL': 2,
  'delete many by SQL': 1,
  'revert by SQL': 2,
  'hold a row': 2,
  'answer by SQL': 4,
} as const;

/** What goes wrong with the database. */
const sqlMishapWeights = { 'back up the database': 1, 'restore the database': 1 } as const;

export type OperationKind =
  | keyof typeof weights
  | keyof typeof mishapWeights
  | keyof typeof sqlWeights
  | keyof typeof ruleWeights
  | keyof typeof sqlMishapWeights;

/** One thing that happens. The numbers choose among what is there, so that an operation keeps its sense when others are taken out. */
export interface Operation {
  readonly kind: OperationKind;
  readonly which: number;
  readonly what: number;
  readonly how: number;
}

const spread = (all: Readonly<Record<string, number>>): OperationKind[] =>
  (Object.entries(all) as [OperationKind, number][]).flatMap(([kind, weight]) =>
    Array.from({ length: weight }, () => kind),
  );

const kinds = spread(weights);
const kindsWithMishaps = spread({ ...weights, ...mishapWeights });
const kindsWithSql = spread({ ...weights, ...sqlWeights });
const allKinds = spread({ ...weights, ...mishapWeights, ...sqlWeights, ...sqlMishapWeights });

const numberMax = 0xffff;

const [lengthMin, lengthMax] = [4, 60];

/**
 * How much happens in a run: mostly little, and now and then a lot. In the same time many short runs break as many promises as fewer long
 * ones, and tell in less words how; what takes many deeds to come about is left to the long ones.
 */
export const drawLength = (random: Random): number =>
  lengthMin + Math.floor((lengthMax + 1 - lengthMin) * random.next() ** 3);

/** What is drawn from. */
interface Draw {
  readonly hasMishaps: boolean;
  readonly hasSql: boolean;
  readonly hasRule: boolean;
}

const withRule = new Map<readonly OperationKind[], readonly OperationKind[]>(
  [kinds, kindsWithMishaps, kindsWithSql, allKinds].map((each) => [each, [...each, ...spread(ruleWeights)]]),
);

function kindsOf({ hasMishaps, hasRule, hasSql }: Draw): readonly OperationKind[] {
  const drawn = hasSql ? (hasMishaps ? allKinds : kindsWithSql) : hasMishaps ? kindsWithMishaps : kinds;
  return hasRule ? (withRule.get(drawn) ?? drawn) : drawn;
}

export const drawOperations = (random: Random, length: number, draw: Draw): Operation[] =>
  Array.from({ length }, () => ({
    kind: random.pick(kindsOf(draw)),
    which: random.integer(0, numberMax),
    what: random.integer(0, numberMax),
    how: random.integer(0, numberMax),
  }));
