import { describe, expect, it } from 'vitest';
import { isQuiet } from '../../src/sheet/plans/plan.ts';
import { describeCell, emptyCell, numberCell, textCell } from '../../src/sheet/port/cell.ts';
import {
  changeRecord,
  copyRow,
  leadKey,
  recordOf,
  removeRecord,
  rowOf,
  type World,
} from '../support/world.ts';
import { cycle, pull, refuse, settle, worldWithLeads } from '../support/world-daemon.ts';

const acme = leadKey(1);

/** What makes the first row, that of Acme, wait, and what ends it. */
interface Trouble {
  readonly says: RegExp;
  begin(world: World): void | Promise<void>;
  end(world: World): void | Promise<void>;
}

const rowOfAcme = ({ sheet }: World) => sheet.lead[0]!;
const type = (world: World, field: string, text: string) => {
  rowOfAcme(world).cells[field] = text === '' ? emptyCell : textCell(text);
};

/** What may be wrong with a row, and how that goes away. */
const troubles: Readonly<Record<string, Trouble>> = {
  'a value that can not be sent': {
    says: /^Error: /,
    begin: (world) => type(world, 'title', ''),
    end: (world) => type(world, 'title', 'Acme'),
  },
  'a refusal of the CRM': {
    says: /^Error: The title is taken\./,
    async begin(world) {
      type(world, 'title', 'Taken');
      await cycle(world);
      await cycle(world);
      refuse(world);
    },
    end: (world) => type(world, 'title', 'Acme'),
  },
  'a refusal in several lines, with the line breaks of another system': {
    says: /^Error: The title\nis taken\./,
    async begin(world) {
      type(world, 'title', 'Taken');
      await cycle(world);
      await cycle(world);
      refuse(world, { state: 'refused', error: { code: 'CRM_REFUSED', message: 'The title\r\nis taken.' } });
    },
    end: (world) => type(world, 'title', 'Acme'),
  },
  'a CRM that can not be reached': {
    says: /^Pending: The CRM did not answer\. The daemon tries again by itself\.$/,
    async begin(world) {
      type(world, 'title', 'Acme GmbH');
      await cycle(world);
      await cycle(world);
      const error = { code: 'CRM_UNREACHABLE', message: 'PUT /leads/1: ECONNREFUSED.' } as const;
      // As after a failed try, with the next one far ahead.
      for (const [text, item] of world.outbox)
        world.outbox.set(text, { ...item, attempts: 1, dueAt: world.clock.now + 3_600_000, error });
    },
    end: (world) => type(world, 'title', 'Acme'),
  },
  'a conflict that the person at the row ends': {
    says: /^Conflict: /,
    begin(world) {
      type(world, 'title', 'Acme GmbH');
      changeRecord(world, acme, { title: 'Acme AG' });
    },
    end: (world) => type(world, 'title', 'Acme AG'),
  },
  'a conflict that the CRM ends': {
    says: /^Conflict: /,
    begin(world) {
      type(world, 'title', 'Acme GmbH');
      changeRecord(world, acme, { title: 'Acme AG' });
    },
    end: (world) => changeRecord(world, acme, { title: 'Acme GmbH' }),
  },
  'a pause': {
    says: /^Held: paused/,
    begin(world) {
      rowOfAcme(world).isPaused = true;
    },
    end(world) {
      delete rowOfAcme(world).isPaused;
    },
  },
  'IDs that changed places': {
    says: /^Held: This row shows the values of record/,
    begin: swapIds,
    end: swapIds,
  },
  'an ID that nobody knows, and an edit': {
    says: /^Held: No record of the CRM has the ID “999”/,
    begin(world) {
      rowOfAcme(world).id = numberCell(999);
      type(world, 'about.url', 'https://acme.example');
    },
    end(world) {
      rowOfAcme(world).id = numberCell(1);
      type(world, 'about.url', '');
    },
  },
  'a copy, when it is seen in the original': {
    says: /^Held: Several rows have the ID 1/,
    begin(world) {
      copyRow(world, acme).cells['title'] = textCell('Acme copy');
      type(world, 'title', 'Acme GmbH');
    },
    end(world) {
      world.sheet.lead.pop();
      type(world, 'title', 'Acme');
    },
  },
  'an edit of a record that is gone': {
    says: /^Held: The record was deleted in the CRM/,
    async begin(world) {
      type(world, 'title', 'Acme GmbH');
      removeRecord(world, acme);
      await pull(world);
      await pull(world);
    },
    end(world) {
      world.crm.set('lead-1', { key: acme, fields: { ...world.records.get('lead-1')!.fields } });
      type(world, 'title', 'Acme');
    },
  },
};

function swapIds({ sheet }: World) {
  const [one, two] = [sheet.lead[0]!, sheet.lead[1]!];
  [one.id, two.id] = [two.id, one.id];
}

describe('what the Sync cell says', () => {
  it.each(Object.entries(troubles))(
    'of %s goes in the cycle in which its cause is gone',
    async (_name, trouble) => {
      const world = await worldWithLeads(['Acme', 'Beta', 'Gamma'], { conflict: 'ask' });
      const sync = () => describeCell(rowOfAcme(world).sync);
      await trouble.begin(world);
      await pull(world);
      await cycle(world);
      await cycle(world);
      expect(sync()).toMatch(trouble.says);
      await trouble.end(world);
      await pull(world);
      await cycle(world);
      expect(sync()).toMatch(/^Synced /);
      expect(isQuiet(await settle(world))).toBe(true);
      expect(recordOf(world, acme).fields['title']).toBe(
        describeCell(rowOf(world, acme).cells['title'] ?? emptyCell),
      );
    },
  );
});
