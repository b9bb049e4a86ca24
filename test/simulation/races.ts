import type { CrmAnswer } from '../../src/sandbox/crm/answers.ts';
import type { Spreadsheet } from '../../src/sandbox/sheets/spreadsheet.ts';
import { heldForMs } from '../../src/sync/pushing/turn.ts';
import { isInverse } from './accidents.ts';
import { fieldsOfBody } from './crm-people.ts';
import { checkCall, recordOfPath } from './invariants.ts';
import { ownersBeside } from './own-cells.ts';
import type { People } from './people.ts';
import { keepLeft, mayLeave } from './rule-people.ts';
import type { Call, CrmWatcher } from './simulated-crm.ts';
import type { SheetWatcher } from './spreadsheet.ts';
import { tabEntities } from './tab-view.ts';
import { Violation } from './violation.ts';

/** A read that was answered; times are epoch ms. */
interface Look {
  readonly moment: number;
  readonly sentAt: number;
  readonly answeredAt: number;
}

/**
 * Watches what the daemon does on both sides. The CRM can not refuse a write because a value moved since it was read, so what somebody
 * types there between the last look and the write is overwritten and nobody ever knew of it. That moment is all that is excused: a look
 * must have come right before. In the spreadsheet, where the daemon keeps what it replaces, nothing is excused but what is gone from a row
 * that a filter hides: of such a row nothing can be kept. There a delete may take any that it was not meant for, and a set only what
 * somebody typed after the last read.
 */
export class Races {
  readonly #people: People;
  /** The last one at each record by itself, by path. */
  readonly #looks = new Map<string, Look>();
  /** The last page of a list that showed the record, by its path. */
  readonly #listed = new Map<string, Look>();
  /** The paths of the records that a page shows whose answer is still on its way. */
  readonly #pages = new WeakMap<Call, readonly string[]>();
  /** What the daemon knew when it sent a write: its last look at the record, and at a page with it. */
  readonly #grounds = new WeakMap<
    Call,
    { readonly own: Look | undefined; readonly list: Look | undefined }
  >();
  /** When the last read of the spreadsheet arrived, and the last one that a plan is made of. */
  #sheetReadAt = 0;
  #tableReadAt = 0;
  /** When reads arrived whose answers are still on their way. */
  readonly #moments = new WeakMap<Call, number>();

  constructor(people: People) {
    this.#people = people;
  }

  readonly sheetWatcher: SheetWatcher = {
    read: (what) => {
      this.#sheetReadAt = this.#people.claims.nextMoment();
      if (what === 'table') this.#tableReadAt = this.#sheetReadAt;
    },
    sent: (run) => {
      // Between the look and the write the daemon may ask what an earlier write did. What undoes one comes from a look of its own.
      const lookedAt = isInverse(run) ? this.#sheetReadAt : this.#tableReadAt;
      this.#people.accidents.noteSent(run, lookedAt);
      return lookedAt;
    },
    acted: () => this.#people.accidents.note(),
    wrote: (before, after, hasDeleted, readAt) => {
      this.#people.accidents.noteLanded(readAt);
      this.#noteSheetWrite(before, after, hasDeleted);
      this.#excuseFiltered(before, after, hasDeleted ? 0 : readAt);
    },
  };

  readonly watcher: CrmWatcher = {
    sent: (call) => {
      this.#grounds.set(call, { own: this.#looks.get(call.path), list: this.#listed.get(call.path) });
    },
    before: (call) => {
      if (call.method === 'GET') this.#moments.set(call, this.#people.claims.nextMoment());
      else if (call.path.split('/').length > 2) this.#excuse(call);
    },
    after: (call, answer) => {
      const { method, path, body } = call;
      if (method === 'GET') this.#pages.set(call, pathsOnPage(path, answer));
      else {
        this.#people.stage.tell(() => `by the daemon: ${method} ${path} ${JSON.stringify(body)}`);
        this.#people.noteCrm();
      }
      this.#watch(() => {
        checkCall(this.#people, call, answer);
        if (method === 'DELETE') this.#people.masses.check();
      });
    },
    answered: (call) => {
      const moment = this.#moments.get(call);
      const answeredAt = this.#people.stage.trueTime();
      if (moment === undefined) return;
      const look = { moment, sentAt: call.sentAt, answeredAt };
      this.#looks.set(call.path, look);
      for (const path of this.#pages.get(call) ?? []) this.#listed.set(path, look);
    },
  };

  /** What is overwritten now, and was typed after the last look at the record, which was recent enough. */
  #excuse(call: Call): void {
    const { path, body, sentAt, method } = call;
    const { entity, id } = recordOfPath(path);
    const { own, list } = this.#grounds.get(call) ?? {};
    const last = !own || (list && list.moment > own.moment) ? list : own;
    const { rereadAfterMs } = this.#people.stage.times;
    const isFresh =
      (own !== undefined && sentAt - own.answeredAt <= heldForMs) ||
      (last !== undefined && sentAt - last.sentAt <= rereadAfterMs);
    if (!isFresh || !last) return;
    const record = this.#people.liveRecords(entity).find((candidate) => candidate.id === id);
    const names = method === 'DELETE' ? undefined : new Set(fieldsOfBody(body).map(([name]) => name));
    for (const [name, value] of Object.entries(record?.values ?? {})) {
      const claim = this.#people.claims.of(value);
      const isHit = names === undefined || names.has(name);
      if (isHit && claim && claim.typedAt > last.moment) this.#people.withdrawn.add(String(value));
    }
  }

  #noteSheetWrite(before: Spreadsheet, after: Spreadsheet, hasDeleted: boolean): void {
    // What people keep beside a row goes with it, also where somebody has put it beside another one's.
    const mayLose = (owner: string) =>
      !this.#isAlive(owner) || this.#people.torn.has(owner) || mayLeave(this.#people, owner);
    const mayGo = (owner: string) => hasDeleted && [owner, ...ownersBeside(before, owner)].some(mayLose);
    this.#people.own.noteDaemon(before, after, mayGo);
    this.#people.masses.noteMissing();
    if (hasDeleted) keepLeft(this.#people, before, after);
  }

  /** What stood in rows that a filter hides, and was typed after the last read, is gone without anybody knowing of it. */
  #excuseFiltered(before: Spreadsheet, after: Spreadsheet, readAt: number): void {
    const { claims, withdrawn } = this.#people;
    const left = this.#people.valuesIn(after, 'kept too');
    const isUnread = (value: string) => (claims.of(value)?.typedAt ?? 0) > readAt;
    for (const value of this.#people.filteredValues(before))
      if (!left.has(value) && isUnread(value)) withdrawn.add(value);
  }

  /** Nothing may be thrown into the daemon's work. */
  #watch(check: () => void): void {
    try {
      check();
    } catch (error) {
      if (!(error instanceof Violation)) throw error;
      this.#people.stage.bug ??= error;
    }
  }

  #isAlive(owner: string): boolean {
    return tabEntities.some((entity) => this.#people.recordOf(entity, owner) !== undefined);
  }
}

/** Of a list there may be several pages, and only one of them shows a record. */
function pathsOnPage(path: string, { body }: CrmAnswer): string[] {
  if (path !== '/leads' && path !== '/tasks') return [];
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return [...text.matchAll(/"id":(\d+)/g)].map(([, id]) => `${path}/${id}`);
}
