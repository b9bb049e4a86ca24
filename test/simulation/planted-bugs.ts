import { isSyncError, SyncError } from '../../src/core/errors.ts';
import type { Mirror } from '../../src/core/mirror.ts';
import type { WriteAnswer } from '../../src/core/ports.ts';
import { isListed, type ListedEntity, recordKeyText } from '../../src/core/record.ts';
import type { Agreement, OutboxItem } from '../../src/core/state.ts';
import type { RequestBudget } from '../../src/crm/budget.ts';
import type { Request, SheetsClient } from '../../src/google/client.ts';
import type { SheetLink } from '../../src/sheet/link.ts';
import type { RowStep } from '../../src/sheet/port/table.ts';
import { withCrm } from '../support/changed-crm.ts';
import { runOf } from './accidents.ts';
import { sheetIds } from './spreadsheet.ts';
import type { SqlPlant } from './sql-side.ts';
import type { Plant } from './stage.ts';

/** Where the search for a planted mistake begins. */
export const searchSeed = 10_000;

/** A known mistake, and within how many runs the simulation has to find it. */
export interface PlantedBug {
  readonly name: string;
  readonly plant?: Plant;
  /** Where it is one of the side that is edited by SQL: only then there is such a side. */
  readonly plantSql?: SqlPlant;
  readonly runsMax: number;
  /** Where the search begins, when it is not at {@link searchSeed}: near a run that shows what few others do, so that it is short. */
  readonly firstSeed?: number;
  /** Whether it shows only where something goes wrong. */
  readonly hasMishaps?: boolean;
}

export const plantedBugs: readonly PlantedBug[] = [
  {
    name: 'rows are written where they were first seen',
    plant: (link) => {
      const places = new Map<string, number>();
      return {
        ...link,
        table: {
          ...link.table,
          async read(layout) {
            const table = await link.table.read(layout);
            for (const [entity, tab] of Object.entries(table.tabs)) {
              if (tab.state === 'held') continue;
              for (const { id, position } of tab.rows) {
                const name = `${entity} ${JSON.stringify(id)}`;
                if (!places.has(name)) places.set(name, position);
              }
            }
            return table;
          },
          prepare: (steps, run, open) =>
            link.table.prepare(
              steps.map((step): RowStep => {
                if (step.kind === 'append') return step;
                const place = places.get(`${step.entity} ${JSON.stringify(step.idSeen)}`);
                return { ...step, position: place ?? step.position };
              }),
              run,
              open,
            ),
        },
      };
    },
    firstSeed: 10_049,
    runsMax: 60,
  },
  {
    name: 'what a write did to another row is left as it is',
    firstSeed: 11_220,
    plant: (link, { openTable, sheets }) => {
      const batchUpdate: SheetsClient['batchUpdate'] = (requests, fields, ranges) => {
        const isInverse = runOf(requests)?.endsWith('~') ?? false;
        const sent = isInverse ? requests.filter((request) => !isOfPeople(request)) : requests;
        return sheets.batchUpdate(sent, fields, ranges);
      };
      return { ...link, table: openTable({ ...sheets, batchUpdate }) };
    },
    runsMax: 60,
  },
  {
    name: 'an update trusts what a list said a minute ago',
    plant: (link) => ({ ...link, times: { ...link.times, rereadAfterMs: 60_000 } }),
    firstSeed: 10_095,
    runsMax: 150,
    hasMishaps: true,
  },
  {
    name: 'a record is not read again before it is changed or deleted',
    plant: (link) =>
      withCrm(link, {
        async getRecord(key, lane) {
          const known = link.mirror.findRecord(key);
          return known
            ? { ...key, fields: known.fields, at: link.clock.now() }
            : link.crm.getRecord(key, lane);
        },
      }),
    runsMax: 60,
  },
  {
    name: 'what lost a conflict is written down nowhere',
    plant: (link) =>
      withMirror(link, {
        appendJournal: (entries) =>
          link.mirror.appendJournal(entries.filter(({ lost }) => Object.keys(lost).length === 0)),
      }),
    runsMax: 60,
  },
  {
    name: 'what is agreed is a minute old',
    plant: (link) => {
      const kept: { readonly at: number; readonly agreements: readonly Agreement[] }[] = [];
      const readAgreements = () => {
        const now = link.clock.monotonicMs();
        kept.push({ at: now, agreements: link.mirror.readAgreements() });
        while ((kept[1]?.at ?? now) < now - 60_000) kept.shift();
        return kept[0]?.agreements ?? [];
      };
      return withMirror(link, { readAgreements });
    },
    firstSeed: 10_035,
    runsMax: 60,
    hasMishaps: true,
  },
  {
    name: 'a job brings along what is to be sent',
    plant: (link) => {
      const payloads = new Map<string, OutboxItem | undefined>();
      return {
        ...link,
        queue: {
          ...link.queue,
          add(keys) {
            for (const key of keys) payloads.set(recordKeyText(key), link.mirror.findOutboxItem(key));
            return link.queue.add(keys);
          },
          start: (wakeUp) =>
            link.queue.start(async (key) => {
              const item = payloads.get(recordKeyText(key));
              if (item?.kind === 'update') await link.crm.updateRecord(key, item.fields);
              return wakeUp(key);
            }),
        },
      };
    },
    runsMax: 60,
  },
  {
    name: 'rows that are gone are deleted in the CRM without a question',
    plant: (link) => ({ ...link, policy: { ...link.policy, vanishedRows: 'trash' } }),
    runsMax: 60,
  },
  {
    name: 'a request has its slot back as soon as it is sent',
    plant: (link, { budget, connect }) => {
      const forgetful: RequestBudget = {
        async take(...wanted) {
          const permit = await budget.take(...wanted);
          permit.answered();
          return { ...permit, answered: () => undefined };
        },
        park: (...refusal) => budget.park(...refusal),
        refuse: (...refusal) => budget.refuse(...refusal),
        usage: () => budget.usage(),
        secrets: () => budget.secrets(),
        close: () => budget.close(),
      };
      return { ...link, crm: connect(forgetful) };
    },
    firstSeed: 10_160,
    runsMax: 200,
    hasMishaps: true,
  },
  {
    name: 'an update counts as agreed when it is sent',
    plant: (link) =>
      withMirror(link, {
        saveOutboxItem(item) {
          link.mirror.saveOutboxItem(item);
          const known = link.mirror.findAgreement(item.key);
          if (item.kind === 'update' && item.state === 'sending' && known)
            link.mirror.saveAgreement({ ...known, fields: { ...known.fields, ...item.fields } });
        },
      }),
    runsMax: 60,
  },
  {
    name: 'no number of deletes is too large',
    plant: (link) => {
      const brakes = { ...link.policy.brakes, deletesMin: 1_000 };
      return { ...link, policy: { ...link.policy, brakes } };
    },
    firstSeed: 10_035,
    runsMax: 60,
    hasMishaps: true,
  },
  {
    name: 'a create is on its way, and only the process knows',
    plant: (link) => {
      const underWay = new Map<string, OutboxItem>();
      const newest = (item: OutboxItem) => underWay.get(recordKeyText(item.key)) ?? item;
      return withMirror(link, {
        saveOutboxItem(item) {
          underWay.delete(recordKeyText(item.key));
          if (item.kind === 'create' && item.sentAt !== undefined && item.state !== 'done')
            underWay.set(recordKeyText(item.key), item);
          else link.mirror.saveOutboxItem(item);
        },
        dropOutboxItem(key) {
          underWay.delete(recordKeyText(key));
          link.mirror.dropOutboxItem(key);
        },
        readOutbox: () => link.mirror.readOutbox().map(newest),
        findOutboxItem(key) {
          const item = link.mirror.findOutboxItem(key);
          return item && newest(item);
        },
      });
    },
    firstSeed: 10_265,
    runsMax: 250,
    hasMishaps: true,
  },
  {
    name: 'a create without an answer counts as not done',
    plant: (link) =>
      withUnknownCreate(link, () => {
        throw new SyncError('CRM_UNREACHABLE', 'The CRM did not answer.');
      }),
    firstSeed: 10_265,
    runsMax: 200,
    hasMishaps: true,
  },
  {
    name: 'a create without an answer is taken to be the newest record',
    plant: (link) =>
      withUnknownCreate(link, async (entity) => {
        const [newest] = (await link.crm.listRecords(entity, 1, 'settle')).records;
        if (!newest) throw new SyncError('CRM_UNREACHABLE', 'The CRM did not answer.');
        return { id: newest.id, fields: newest.fields, at: newest.at };
      }),
    firstSeed: 11_300,
    runsMax: 100,
    hasMishaps: true,
  },
  {
    name: 'a record that one list lacks is gone',
    plant: (link) =>
      withMirror(link, {
        saveRecord: (record) =>
          link.mirror.saveRecord(record.missedSweeps > 0 ? { ...record, presence: 'gone' } : record),
      }),
    firstSeed: 10_157,
    runsMax: 200,
    hasMishaps: true,
  },
  {
    name: 'a list ends with its first page',
    plant: (link) =>
      withCrm(link, {
        listRecords: async (entity, page, lane) => ({
          ...(await link.crm.listRecords(entity, page, lane)),
          hasMore: false,
        }),
      }),
    runsMax: 60,
    hasMishaps: true,
  },
  {
    name: 'a write without a reply is forgotten',
    plant: (link) => withMirror(link, { saveOpenWrite: () => undefined }),
    firstSeed: 30_160,
    runsMax: 100,
    hasMishaps: true,
  },
];

/** Whether a request changes a tab in which people work. */
function isOfPeople({ copyPaste, deleteDimension, insertDimension, updateCells }: Request): boolean {
  const place =
    updateCells?.start ??
    updateCells?.range ??
    copyPaste?.destination ??
    insertDimension?.range ??
    deleteDimension?.range;
  return [sheetIds.lead, sheetIds.task].some((sheetId) => sheetId === place?.sheetId);
}

const withMirror = (link: SheetLink, parts: Partial<Mirror>): SheetLink => ({
  ...link,
  mirror: { ...link.mirror, ...parts },
});

/** What becomes of a create of which nobody knows whether it was done. */
const withUnknownCreate = (
  link: SheetLink,
  conclude: (entity: ListedEntity) => Promise<WriteAnswer>,
): SheetLink =>
  withCrm(link, {
    async createRecord(entity, fields, sending) {
      try {
        return await link.crm.createRecord(entity, fields, sending);
      } catch (error) {
        if (!isListed(entity) || !isSyncError(error, 'CRM_UNKNOWN_OUTCOME', 'CRM_UNREADABLE')) throw error;
        return conclude(entity);
      }
    },
  });
