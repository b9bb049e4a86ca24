import { type FaultTable, testFaultTable } from '../support/fault-table.ts';

/* What can go wrong with a CRM behind a network, and where it is seen that nothing is lost or doubled by it. */

const faults: FaultTable['faults'] = {
  1: 'there is no connection',
  2: 'the answer to a create is lost, and it was done',
  3: 'the answer to a create is lost, and it is done late',
  4: 'the answer to a create is lost, and it was not done',
  5: 'a record is edited before its lost create is looked for',
  6: 'a colleague creates the same record meanwhile',
  7: 'the answer to an update is lost',
  8: 'a record changes between our read and our write',
  9: 'a list comes empty where records were known',
  10: 'an answer is a page, breaks off, or has another form',
  11: 'one page of a sweep fails',
  12: 'a delete between two pages moves a live record past us',
  13: 'new records between two pages show a record twice',
  14: 'pages repeat for ever, or there is only the first',
  15: 'a list lags behind our own write',
  16: 'a rate refusal does not say how long to wait',
  17: 'somebody else uses the key',
  18: 'the key is revoked',
  19: 'the key lacks the scope for one kind of record',
  20: 'the record of an edited row was deleted',
  21: 'a value is refused',
  22: 'the CRM is away for hours',
  23: 'two records were merged',
  24: 'the CRM puts our value in another form',
  25: 'a status is misspelt, and the CRM would create it',
  26: 'a status, stage or custom field is new or renamed',
  27: 'records gain or lose a field',
  28: 'the clock of the CRM is wrong',
  29: 'an answer never ends, or is huge',
  30: 'a kept connection is reset under a create',
};

const elsewhere: FaultTable['elsewhere'] = [
  [1, 'contract/crm-errors.test.ts', 'fails a write as unreachable when the name does not resolve'],
  [3, 'process/crash.test.ts', 'a kill while new rows become records'],
  [
    9,
    'scenario/reading.test.ts',
    'because it came empty holds its entity with a problem, and deletes nothing',
  ],
  [10, 'contract/crm-listing.test.ts', 'fails as a whole: %s'],
  [
    11,
    'scenario/reading.test.ts',
    'S4: that fails at a page goes on there, and only two unfailing ones prove a delete',
  ],
  [
    12,
    'scenario/reading.test.ts',
    'S4: past which a delete on the first page moved a lead does not take that lead for deleted',
  ],
  [13, 'scenario/reading.test.ts', 'that meets leads twice because new ones came in holds each of them once'],
  [14, 'contract/crm-listing.test.ts', 'that go round in a circle end'],
  [14, 'contract/crm-client.test.ts', 'are not taken for complete where the CRM serves its first page only'],
  [16, 'contract/crm-rate-refusals.test.ts', 'goes out again after %s, a create too, and is no failure'],
  [
    22,
    'scenario/reading.test.ts',
    'a CRM that is away for six hours is asked rarely, and not made up for when it is back',
  ],
  [
    29,
    'contract/crm-errors.test.ts',
    'is an unknown outcome of a write when the answer drips past the deadline',
  ],
  [
    30,
    'contract/crm-errors.test.ts',
    'are not used twice, because one that is just closing leaves a write without an outcome',
  ],
];

const scenarios = ['reads', 'writes', 'forms'].map((part) => `scenario/crm-faults-${part}.test.ts`);

testFaultTable({ faults, scenarios, elsewhere });
