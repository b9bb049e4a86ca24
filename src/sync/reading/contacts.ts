import { isSyncError } from '../../core/errors.ts';
import type { Mirror } from '../../core/mirror.ts';
import type { Lane } from '../../core/ports.ts';
import { ContactQueue, type ContactTurn, staleVersion, versionOf } from '../../core/reading/contact-queue.ts';
import { noteMissed, sweepsToProve } from '../../core/reading/observe.ts';
import type { RecordId } from '../../core/record.ts';
import type { StoredRecord } from '../../core/state.ts';
import type { Link } from '../link.ts';
import { readKnown } from './account.ts';
import { readEmptyLists, readPresent, readSwept, saveNameless } from './lists.ts';
import { absorbPage, proveEachGone, proveGone } from './pull.ts';

/** The queue of each mirror. */
const queues = new WeakMap<Mirror, ContactQueue>();

function queueOf({ mirror }: Link): ContactQueue {
  const queue = queues.get(mirror) ?? new ContactQueue();
  queues.set(mirror, queue);
  queue.update(mirror.readRecords(), mirror.readContactReads());
  return queue;
}

/** So much is taken into a new queue before others get their turn. */
const sliceMax = 1_000;

/** To be called before the queue is asked for: it is made in slices. */
async function readyQueue({ clock, mirror }: Link): Promise<void> {
  if (queues.has(mirror)) return;
  const queue = new ContactQueue();
  for (let end = sliceMax; end < mirror.readRecords().length; end += sliceMax) {
    queue.update(mirror.readRecords().slice(0, end), mirror.readContactReads().slice(0, end));
    await clock.sleep(0);
  }
  queues.set(mirror, queue);
}

/**
 * Reads the contacts of the one lead whose turn it is: of the leads that changed, if it is their turn, because whoever works on contacts
 * works on their lead too, as a rule; else of all of them.
 */
export async function readNextContacts(link: Link, turn: ContactTurn): Promise<void> {
  await readyQueue(link);
  const queue = queueOf(link);
  const lead = queue.next(turn);
  try {
    if (lead?.presence === 'present') await readContacts(link, lead.key.id, 'sweep');
    else if (lead) await proveContactsGone(link, lead);
  } catch (error) {
    if (lead) queue.noteFailure(lead.key.id, link.clock.now());
    throw error;
  }
  noteRound(link);
}

/**
 * Reads all contacts of a lead. One that the list lacks twice is asked for directly, as records of a sweep are; until then its lead comes
 * first again, so that a deleted contact does not stay for a whole round.
 */
export async function readContacts(link: Link, leadId: RecordId, lane: Lane): Promise<void> {
  await readyQueue(link);
  const { clock, mirror } = link;
  const at = clock.now();
  const lead = mirror.findRecord({ entity: 'lead', id: leadId });
  const read = { leadId, at, leadVersion: lead ? versionOf(lead) : staleVersion };
  const listed = await readKnown(link, () => link.crm.listContacts(leadId, lane)).catch((error: unknown) => {
    // The lead went to the trash just now. The reads of leads have to prove that; then it is this lead's turn again.
    if (isSyncError(error, 'CRM_NOT_FOUND')) return undefined;
    // What can not be understood must not keep the other leads from their turn.
    if (isSyncError(error, 'CRM_UNREADABLE')) mirror.saveContactRead(read);
    throw error;
  });
  if (!listed) return mirror.saveContactRead(read);
  absorbPage(link, listed);
  saveNameless(mirror, 'contact', listed.nameless ?? [], leadId);
  const missed = noteMissed(queueOf(link).contactsOf(leadId), at);
  mirror.transaction(() => {
    for (const contact of missed) mirror.saveRecord(contact);
  });
  await proveGone(link, missed);
  const isDoubtful = missed.some(({ missedSweeps }) => missedSweeps > 0 && missedSweeps < sweepsToProve);
  mirror.saveContactRead(isDoubtful ? { ...read, leadVersion: staleVersion } : read);
}

/** Reads the contacts of every lead that is there, a request for each. Answers how many there are; throws what fails. */
export async function readAllContacts(link: Link): Promise<number> {
  for (const { key } of readPresent(link.mirror, 'lead')) await readContacts(link, key.id, 'sweep');
  noteRound(link);
  return queueOf(link).countAll().contacts;
}

/** What becomes of the contacts of a lead in the trash is not specified: each is asked for. */
async function proveContactsGone(link: Link, lead: StoredRecord): Promise<void> {
  const { clock, mirror } = link;
  const at = clock.now();
  await proveEachGone(link, queueOf(link).contactsOf(lead.key.id));
  saveNameless(mirror, 'contact', [], lead.key.id);
  mirror.saveContactRead({ leadId: lead.key.id, at, leadVersion: versionOf(lead) });
}

/**
 * Notes how far the round is, as a sweep of contacts: it is complete once the contacts of every lead were read, or it is sure that there are
 * none, and stays so, because a lead that is new since then is read soon.
 */
function noteRound(link: Link): void {
  const { clock, mirror } = link;
  const swept = readSwept(mirror);
  const { contacts, leads, leadsRead, oldestAt } = queueOf(link).countAll();
  const isSure = leads > 0 || readEmptyLists(mirror).has('lead');
  const knowsLeads = isSure && swept.has('lead');
  const isComplete = swept.has('contact') || (knowsLeads && leadsRead === leads);
  mirror.saveSweep({
    entity: 'contact',
    startedAt: Math.min(oldestAt, clock.now()),
    ...(isComplete ? { finishedAt: clock.now() } : {}),
    isComplete,
    pages: leadsRead,
    records: contacts,
  });
}
