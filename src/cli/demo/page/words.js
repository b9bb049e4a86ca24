// What happened, in words.

const sideNames = { crm: 'the CRM', sheet: 'the sheet', warehouse: 'the database' };

const seconds = (fromMs, toMs) => `${((toMs - fromMs) / 1_000).toFixed(1)} s`;
const joined = (words) => words.join(' and ');

const verbs = { edit: 'changed', create: 'added', delete: 'deleted' };

/** What the row of the sheet says of itself where it says more than that it is in step. */
const saidAtRow = ({ note }) =>
  /^(Changed by|Replaced in|Error|Conflict|Held)/.test(note) ? ` The sheet’s row says: “${note}”` : '';

/** Says what a user did, and since when each of the other sides shows it. */
export function describe(happening, sides) {
  const { kind, key, field, made, isOver } = happening;
  const [entity, id] = key.split(' ');
  const record = entity === 'lead' ? `#${id}` : `${entity} #${id}`;
  const what = kind === 'edit' ? `${field} of ${record}` : record;
  const where = joined(made.map(({ side }) => `in ${sideNames[side]}`));
  const did = `You ${verbs[kind]} ${what} ${where}`;
  if (made.length > 1) return `${did} at once; ${describeWinner(happening, sides)}.${saidAtRow(happening)}`;
  if (happening.restoredAt)
    return `${did}; its row is back after ${seconds(made[0].at, happening.restoredAt)}, and nothing was deleted.`;
  return `${did}; ${describeArrival(happening, sides)}.${isOver ? '' : saidAtRow(happening)}`;
}

/** Which of several values all sides have in the end. */
function describeWinner({ made, seen, isOver }, sides) {
  if (!isOver) return 'only one of both can stay';
  const winner = sides.find((side) => !seen.has(side));
  const first = Math.min(...made.map(({ at }) => at));
  const last = Math.max(...seen.values());
  const { text } = made.find(({ side }) => side === winner);
  return `“${text}” of ${sideNames[winner]} is on all sides after ${seconds(first, last)}`;
}

const haveIt = { edit: 'has it', create: 'has it', delete: 'deleted it' };

function describeArrival({ kind, made: [{ side: origin, at }], seen, askedAt }, sides) {
  const others = sides.filter((side) => side !== origin);
  const arrived = [...seen]
    .toSorted(([, one], [, other]) => one - other)
    .map(
      ([side, seenAt], index) =>
        `${sideNames[side]}${index === 0 ? ` ${haveIt[kind]}` : ''} after ${seconds(at, seenAt)}`,
    );
  const waiting = others.filter((side) => !seen.has(side)).map((side) => sideNames[side]);
  if (waiting.length === 0) return arrived.join('; ');
  const [still, notYet] = waiting.length > 1 ? ['still have', 'do'] : ['still has', 'does'];
  if (kind !== 'delete') return [...arrived, `${joined(waiting)} ${notYet} not have it yet`].join('; ');
  if (askedAt && seen.size === 0)
    return `the daemon asks after ${seconds(at, askedAt)} whether to delete it everywhere; answer on the status page, or in the sheet’s tab Conflicts. Until then ${joined(waiting)} ${still} it`;
  return [...arrived, `${joined(waiting)} ${still} it`].join('; ');
}
