import { isSyncError } from '../../core/errors.ts';
import { splitContactId } from '../../core/fields/contact-id.ts';
import type { Lane } from '../../core/ports.ts';
import { type ContactTurn, chooseLead, staleVersion, versionOf } from '../../core/reading/contact-queue.ts';
import { noteMissed, sweepsToProve } from '../../core/reading/observe.ts';
import type { RecordId } from '../../core/record.ts';
import type { StoredRecord } from '../../core/state.ts';
import type { Link } from '../link.ts';
import { readKnown } from './account.ts';
import { readEmptyLists, readPresent, readSwept, saveNameless } from './lists.ts';
import { absorbPage, proveEachGone, proveGone } from './pull.ts';

/**
 * Reads the contacts of the one lead whose turn it is: of the leads that changed, if it is their turn, because whoever works on contacts
 * works on their lead too, as a rule; else of all of them. First comes the one whose last reading is the oldest. A lead whose reading failed
 * is noted in `failedAt` and waits for its next turn: if the CRM fails on it each time, it would else keep all others from theirs.
 */
export async function readNextContacts(
  link: Link,
  turn: ContactTurn,
  failedAt = new Map<RecordId, number>(),
): Promise<void> {
  const { clock, mirror } = link;
  const [leads, leadsRead] = [mirror.readRecords('lead'), mirror.readContactReads()];
  const lead = chooseLead(leads, leadsOfContacts(link), leadsRead, turn, failedAt);
  try {
    if (lead?.presence === 'present') await readContacts(link, lead.key.id, 'sweep');
    else if (lead) await proveContactsGone(link, lead);
  } catch (error) {
    if (lead) failedAt.set(lead.key.id, clock.now());
    throw error;
  }
  if (lead) failedAt.delete(lead.key.id);
  noteRound(link);
}

/**
 * Reads all contacts of a lead. One that the list lacks twice is asked for directly, as records of a sweep are; until then its lead comes
 * first again, so that a deleted contact does not stay for a whole round.
 */
export async function readContacts(link: Link, leadId: RecordId, lane: Lane): Promise<void> {
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
  const missed = noteMissed(presentContacts(link, leadId), at);
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
  return presentContacts(link).length;
}

/** What becomes of the contacts of a lead in the trash is not specified: each is asked for. */
async function proveContactsGone(link: Link, lead: StoredRecord): Promise<void> {
  const { clock, mirror } = link;
  const at = clock.now();
  await proveEachGone(link, presentContacts(link, lead.key.id));
  saveNameless(mirror, 'contact', [], lead.key.id);
  mirror.saveContactRead({ leadId: lead.key.id, at, leadVersion: versionOf(lead) });
}

const leadOf = ({ key }: StoredRecord): RecordId => splitContactId(key.id).leadId;

const presentContacts = ({ mirror }: Link, leadId?: RecordId): StoredRecord[] =>
  readPresent(mirror, 'contact').filter((contact) => leadId === undefined || leadOf(contact) === leadId);

const leadsOfContacts = (link: Link): ReadonlySet<RecordId> => new Set(presentContacts(link).map(leadOf));

/**
 * Notes how far the round is, as a sweep of contacts: it is complete once the contacts of every lead were read, or it is sure that there are
 * none, and stays so, because a lead that is new since then is read soon.
 */
function noteRound(link: Link): void {
  const { clock, mirror } = link;
  const swept = readSwept(mirror);
  const readAt = new Map(mirror.readContactReads().map(({ leadId, at }) => [leadId, at]));
  const leads = readPresent(mirror, 'lead');
  const isSure = leads.length > 0 || readEmptyLists(mirror).has('lead');
  const knowsLeads = isSure && swept.has('lead');
  const times = leads.flatMap(({ key }) => readAt.get(key.id) ?? []);
  const isComplete = swept.has('contact') || (knowsLeads && times.length === leads.length);
  mirror.saveSweep({
    entity: 'contact',
    startedAt: times.reduce((oldest, at) => Math.min(oldest, at), clock.now()),
    ...(isComplete ? { finishedAt: clock.now() } : {}),
    isComplete,
    pages: times.length,
    records: presentContacts(link).length,
  });
}
