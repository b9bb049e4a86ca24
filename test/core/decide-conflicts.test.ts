import { describe, expect, it } from 'vitest';
import { emptyCell, textCell } from '../../src/sheet/port/cell.ts';
import { changeRecord, recordOf, rowOf } from '../support/world.ts';
import { acme, rest, shownSync, shownTitle, titleOf, typeTitle } from '../support/world-acme.ts';
import { pull, push, settle, worldWithLeads } from '../support/world-daemon.ts';

describe('a conflict', () => {
  const conflicting = (conflict: 'crm' | 'table' | 'ask') => {
    const world = worldWithLeads(['Acme'], { conflict });
    typeTitle(world, 'Acme AG');
    changeRecord(world, acme, { title: 'Acme GmbH' });
    pull(world);
    return world;
  };

  it('where the CRM wins puts the CRM’s value into the row, and keeps the other', () => {
    const world = conflicting('crm');
    expect(rest(world).table[0]?.journal).toMatchObject({
      after: { title: 'Acme GmbH' },
      lost: { title: 'Acme AG' },
      cause: 'conflict: the CRM wins',
    });
    settle(world);
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
    (_what, url, accepting, says) => {
      const world = worldWithLeads(['Acme'], { conflict: 'ask' });
      changeRecord(world, acme, { 'about.url': 'https://a.example' });
      settle(world);
      changeRecord(world, acme, { 'about.url': url });
      rowOf(world, acme).cells['about.url'] = textCell('https://c.example');
      settle(world);
      expect(shownSync(world)).toMatch(says);
      if (accepting === undefined) return;
      rowOf(world, acme).cells['about.url'] = accepting;
      expect(settle(world).conflicts).toEqual([]);
      expect(recordOf(world, acme).fields['about.url']).toBe(url);
    },
  );

  it('where the sheet wins goes to the CRM, and keeps the other', () => {
    const world = conflicting('table');
    expect(rest(world).outbox.save).toMatchObject([
      { fields: { title: 'Acme AG' }, base: { title: 'Acme GmbH' } },
    ]);
    settle(world);
    expect([titleOf(world), shownTitle(world)]).toEqual(['Acme AG', 'Acme AG']);
    expect(shownSync(world)).toMatch(/^Replaced in the CRM: Title was “Acme GmbH”\. Synced [\d: -]+$/);
    expect(world.journal).toContainEqual(expect.objectContaining({ lost: { title: 'Acme GmbH' } }));
  });

  it.each([
    ['crm', /^Changed by the CRM: Status was “In talks”/],
    ['table', /^Replaced in the CRM: Status was “New lead”/],
  ] as const)('where the %s wins is told in names that people know, not in ids', (conflict, words) => {
    const world = worldWithLeads(['Acme'], { conflict });
    changeRecord(world, acme, { status_name: 'lost' });
    pull(world);
    settle(world);
    changeRecord(world, acme, { status_name: 'new' });
    rowOf(world, acme).cells['status_name'] = textCell('In talks');
    pull(world);
    settle(world);
    expect(shownSync(world)).toMatch(words);
  });

  it('that waits for a person changes neither side', () => {
    const world = conflicting('ask');
    const plan = rest(world);
    expect(plan.conflicts).toEqual([
      { key: acme, field: 'title', agreed: 'Acme', crm: 'Acme GmbH', table: 'Acme AG' },
    ]);
    settle(world);
    expect([titleOf(world), shownTitle(world)]).toEqual(['Acme GmbH', 'Acme AG']);
    expect(shownSync(world)).toMatch(/^Conflict: the CRM has “Acme GmbH” for Title\./);
  });

  it.each([
    ['crm', 'Acme GmbH'],
    ['table', 'Acme AG'],
  ])('decided for the %s ends with its value, and the decision with it', (choice, title) => {
    const world = conflicting('ask');
    rest(world);
    world.decisions.set('conflict:lead-1:title', choice);
    settle(world);
    expect([titleOf(world), shownTitle(world)]).toEqual([title, title]);
    expect([...world.decisions]).toEqual([]);
  });

  it('that comes back after it was decided is asked about again', () => {
    const world = conflicting('ask');
    rest(world);
    world.decisions.set('conflict:lead-1:title', 'table');
    settle(world);
    typeTitle(world, 'Acme KG');
    changeRecord(world, acme, { title: 'Acme SE' });
    expect(settle(world).conflicts).toMatchObject([{ crm: 'Acme SE', table: 'Acme KG' }]);
  });

  it('keeps its decision while the record is being sent, and while its row is missing', () => {
    const world = conflicting('ask');
    rest(world);
    world.decisions.set('conflict:lead-1:title', 'table');
    rest(world);
    for (const [text, item] of world.outbox) world.outbox.set(text, { ...item, state: 'sending' });
    rest(world);
    expect([...world.decisions.keys()]).toEqual(['conflict:lead-1:title']);
    world.sheet.lead.length = 0;
    rest(world);
    expect([...world.decisions.keys()]).toEqual(['conflict:lead-1:title']);
  });

  it('ends when the person types the CRM’s value', () => {
    const world = conflicting('ask');
    rest(world);
    typeTitle(world, 'Acme GmbH');
    expect(settle(world).conflicts).toEqual([]);
  });

  it('that appears while an edit is sent is decided again', () => {
    const world = worldWithLeads(['Acme'], { conflict: 'ask' });
    typeTitle(world, 'Acme AG');
    rest(world);
    changeRecord(world, acme, { title: 'Acme GmbH' });
    push(world);
    expect(titleOf(world)).toBe('Acme GmbH');
    expect(settle(world).conflicts).toHaveLength(1);
  });
});
