import { describe, expect, it } from 'vitest';
import { emptyCell, textCell } from '../../src/sheet/port/cell.ts';
import { changeRecord, journalOf, recordOf, rowOf } from '../support/world.ts';
import { acme, rest, shownSync, shownTitle, titleOf, typeTitle } from '../support/world-acme.ts';
import { pull, push, settle, worldWithLeads } from '../support/world-daemon.ts';

describe('a conflict', () => {
  const conflicting = async (conflict: 'crm' | 'table' | 'ask') => {
    const world = await worldWithLeads(['Acme'], { conflict });
    typeTitle(world, 'Acme AG');
    changeRecord(world, acme, { title: 'Acme GmbH' });
    await pull(world);
    return world;
  };

  it('where the CRM wins puts the CRM’s value into the row, and keeps the other', async () => {
    const world = await conflicting('crm');
    expect((await rest(world)).table[0]?.journal).toMatchObject({
      after: { title: 'Acme GmbH' },
      lost: { title: 'Acme AG' },
      cause: 'conflict: the CRM wins',
    });
    await settle(world);
    expect([titleOf(world), shownTitle(world)]).toEqual(['Acme GmbH', 'Acme GmbH']);
    expect(shownSync(world)).toMatch(/^Changed by the CRM: Title was “Acme AG”\. Synced [\d: -]+$/);
  });

  it.each([
    [
      'empty',
      null,
      emptyCell,
      /^Conflict: the CRM has \(empty\) for Website\. Empty the cell to accept that/,
    ],
    ['short', 'https://b.example', textCell('https://b.example'), /Type it here to accept it/],
    ['of several lines', 'One\nTwo', undefined, /“One Two” for Website\. Ask the operator to resolve\.$/],
  ])(
    'that a person has to settle tells only ways that end it, where what the CRM has is %s',
    async (_what, url, accepting, says) => {
      const world = await worldWithLeads(['Acme'], { conflict: 'ask' });
      changeRecord(world, acme, { 'about.url': 'https://a.example' });
      await settle(world);
      changeRecord(world, acme, { 'about.url': url });
      rowOf(world, acme).cells['about.url'] = textCell('https://c.example');
      await settle(world);
      expect(shownSync(world)).toMatch(says);
      if (accepting === undefined) return;
      rowOf(world, acme).cells['about.url'] = accepting;
      expect((await settle(world)).conflicts).toEqual([]);
      expect(recordOf(world, acme).fields['about.url']).toBe(url);
    },
  );

  it('where the sheet wins goes to the CRM, and keeps the other', async () => {
    const world = await conflicting('table');
    expect((await rest(world)).outbox.save).toMatchObject([
      { fields: { title: 'Acme AG' }, base: { title: 'Acme GmbH' } },
    ]);
    await settle(world);
    expect([titleOf(world), shownTitle(world)]).toEqual(['Acme AG', 'Acme AG']);
    expect(shownSync(world)).toMatch(/^Replaced in the CRM: Title was “Acme GmbH”\. Synced [\d: -]+$/);
    expect(journalOf(world)).toContainEqual(expect.objectContaining({ lost: { title: 'Acme GmbH' } }));
  });

  it.each([
    ['crm', /^Changed by the CRM: Status was “In talks”/],
    ['table', /^Replaced in the CRM: Status was “New lead”/],
  ] as const)('where the %s wins is told in names that people know, not in ids', async (conflict, words) => {
    const world = await worldWithLeads(['Acme'], { conflict });
    changeRecord(world, acme, { status_name: 'lost' });
    await pull(world);
    await settle(world);
    changeRecord(world, acme, { status_name: 'new' });
    rowOf(world, acme).cells['status_name'] = textCell('In talks');
    await pull(world);
    await settle(world);
    expect(shownSync(world)).toMatch(words);
  });

  it('that waits for a person changes neither side', async () => {
    const world = await conflicting('ask');
    const plan = await rest(world);
    expect(plan.conflicts).toEqual([
      { key: acme, field: 'title', agreed: 'Acme', crm: 'Acme GmbH', table: 'Acme AG' },
    ]);
    await settle(world);
    expect([titleOf(world), shownTitle(world)]).toEqual(['Acme GmbH', 'Acme AG']);
    expect(shownSync(world)).toMatch(/^Conflict: the CRM has “Acme GmbH” for Title\./);
  });

  it.each([
    ['crm', 'Acme GmbH'],
    ['table', 'Acme AG'],
  ])('decided for the %s ends with its value, and the decision with it', async (choice, title) => {
    const world = await conflicting('ask');
    await rest(world);
    world.decisions.set('conflict:lead-1:title', choice);
    await settle(world);
    expect([titleOf(world), shownTitle(world)]).toEqual([title, title]);
    expect([...world.decisions]).toEqual([]);
  });

  it('that comes back after it was decided is asked about again', async () => {
    const world = await conflicting('ask');
    await rest(world);
    world.decisions.set('conflict:lead-1:title', 'table');
    await settle(world);
    typeTitle(world, 'Acme KG');
    changeRecord(world, acme, { title: 'Acme SE' });
    expect((await settle(world)).conflicts).toMatchObject([{ crm: 'Acme SE', table: 'Acme KG' }]);
  });

  it('keeps its decision while the record is being sent, and while its row is missing', async () => {
    const world = await conflicting('ask');
    await rest(world);
    world.decisions.set('conflict:lead-1:title', 'table');
    await rest(world);
    for (const [text, item] of world.outbox) world.outbox.set(text, { ...item, state: 'sending' });
    await rest(world);
    expect([...world.decisions.keys()]).toEqual(['conflict:lead-1:title']);
    world.sheet.lead.length = 0;
    await rest(world);
    expect([...world.decisions.keys()]).toEqual(['conflict:lead-1:title']);
  });

  it('ends when the person types the CRM’s value', async () => {
    const world = await conflicting('ask');
    await rest(world);
    typeTitle(world, 'Acme GmbH');
    expect((await settle(world)).conflicts).toEqual([]);
  });

  it('that appears while an edit is sent is decided again', async () => {
    const world = await worldWithLeads(['Acme'], { conflict: 'ask' });
    typeTitle(world, 'Acme AG');
    await rest(world);
    changeRecord(world, acme, { title: 'Acme GmbH' });
    await push(world);
    expect(titleOf(world)).toBe('Acme GmbH');
    expect((await settle(world)).conflicts).toHaveLength(1);
  });
});
