// What happened, put together from what each side showed before and shows now.

/**
 * Follows changes from side to side. A change belongs to the side that shows it first: the daemon, which brings it to the others, is never
 * first. An edit by SQL can be in the CRM before the next look at either; the warehouse's log of edits tells it.
 * @param {readonly string[]} sides
 * @param {(field: string) => boolean} isText whether a field reads the same on all sides
 */
export function createStory(sides, isText) {
  /** @type {any[]} The newest one last. */
  const happenings = [];
  const held = new Map();
  /** Since when a side has rows of a kind that no record has yet. */
  const draftsSince = new Map();
  /** The newest edit by SQL of each record at the beginning, and of each field that is told. */
  let editsBefore;
  const editsTold = new Map();

  function begin(kind, key, side, at, more) {
    const noteBefore = held.get('sheet')?.notes?.get(key);
    happenings.push({ kind, key, made: [{ side, at, ...more }], seen: new Map(), noteBefore, ...more });
  }

  const isOpen = ({ seen }) => seen.size < sides.length - 1;
  const openOf = (kind, key, field) =>
    happenings.findLast((one) => one.kind === kind && one.key === key && one.field === field && isOpen(one));
  const isElsewhere = (side, key) => sides.some((one) => one !== side && held.get(one)?.records.has(key));

  function edited(side, key, field, text, at) {
    const open = openOf('edit', key, field);
    const isSql = isBySql(side, key, field);
    if (!open) return begin('edit', key, side, at, { field, text });
    const own = open.made.find((one) => one.side === side);
    const isBrought = open.made.some(
      (one) => one.side !== side && (one.text === text || (!own && !isText(field))),
    );
    if (isBrought && isSql && open.made.every((one) => one.side === 'crm'))
      Object.assign(open, { made: [{ side, at, text }] }).seen.set('crm', at);
    else if (isBrought) open.seen.set(side, at);
    else if (own) Object.assign(own, { text, at });
    else open.made.push({ side, at, text });
  }

  /** Whether the log has an edit of the record that is not told yet. */
  function isBySql(side, key, field) {
    if (side !== 'warehouse') return false;
    const edit = held.get(side).edits.get(key);
    const isNew = edit !== (editsTold.get(`${key} ${field}`) ?? editsBefore.get(key));
    if (isNew) editsTold.set(`${key} ${field}`, edit);
    return isNew;
  }

  function vanished(side, key, at) {
    const open = openOf('delete', key);
    if (open) open.seen.set(side, at);
    else if (isElsewhere(side, key)) begin('delete', key, side, at);
  }

  function appeared(side, key, at) {
    const gone = openOf('delete', key);
    if (gone?.made[0].side === side) {
      gone.restoredAt = at;
      return;
    }
    const open = openOf('create', key);
    if (open) {
      if (open.made[0].side !== side) open.seen.set(side, at);
    } else if (!isElsewhere(side, key)) {
      const drafted = sides.find((one) => draftsSince.has(`${one} ${key.split(' ')[0]}`));
      if (drafted === undefined) return begin('create', key, side, at);
      begin('create', key, drafted, draftsSince.get(`${drafted} ${key.split(' ')[0]}`));
      happenings.at(-1).seen.set(side, at);
    }
  }

  function noteDrafts(side, { drafts = new Set() }, at) {
    for (const entity of ['lead', 'opportunity', 'task']) {
      const name = `${side} ${entity}`;
      if (!drafts.has(entity)) draftsSince.delete(name);
      else if (!draftsSince.has(name)) draftsSince.set(name, at);
    }
  }

  return {
    /** Takes what a side shows at an instant. The first time is the beginning, and no change. */
    observe(side, shown, at) {
      const before = held.get(side);
      held.set(side, shown);
      editsBefore ??= shown.edits;
      if (before === shown) return;
      if (before) {
        for (const key of before.records.keys()) if (!shown.records.has(key)) vanished(side, key, at);
        for (const [key, fields] of shown.records) {
          const known = before.records.get(key);
          if (!known) appeared(side, key, at);
          else
            for (const [field, text] of fields)
              if (text !== known.get(field)) edited(side, key, field, text, at);
        }
      }
      noteDrafts(side, shown, at);
      const sheet = held.get('sheet');
      for (const one of happenings)
        if (one.kind === 'delete' && sheet?.asked?.has(one.key)) one.askedAt ??= at;
    },
    /** The newest one, with what the sheet says at its row if that is new; `undefined` where nothing happened. */
    latest() {
      const last = happenings.at(-1);
      const note = last && held.get('sheet')?.notes?.get(last.key);
      return last && { ...last, isOver: !isOpen(last), note: note === last.noteBefore ? '' : (note ?? '') };
    },
  };
}
