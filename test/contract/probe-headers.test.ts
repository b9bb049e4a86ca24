import { describe, expect, test } from 'vitest';
import { readClockLead, readLimitHeaders } from '../../src/crm/probe.ts';

const noon = Date.UTC(2026, 10, 21, 12);
const date = new Date(noon).toUTCString();

describe('the limit an answer tells', () => {
  test.for([
    ['1795262460', 'epoch seconds'],
    ['1795262460000', 'epoch milliseconds'],
    ['42', 'seconds from now'],
    [date, 'no number'],
  ] as const)('has a reset of %s in the form of %s', ([reset, resetForm]) => {
    const headers = { 'x-ratelimit-limit': '100', 'x-ratelimit-reset': reset };
    expect(readLimitHeaders({ headers })).toEqual({ limit: 100, resetForm });
  });

  test('is nothing where the headers are absent, empty or no numbers', () => {
    const headers = { 'x-ratelimit-limit': '', 'x-ratelimit-remaining': 'many' };
    expect(readLimitHeaders({ headers })).toEqual({});
  });
});

describe("how far the clock is ahead of the CRM's", () => {
  const lead = (sentAt: number, receivedAt: number) =>
    readClockLead({ headers: { date }, sentAt, receivedAt });

  test('is nothing while the date may lie between sending and receiving, however long that takes', () => {
    expect(lead(noon - 20_000, noon + 100)).toBe(0);
    expect(lead(noon + 999, noon + 30_000)).toBe(0);
  });

  test('is what the answer proves', () => {
    expect(lead(noon + 61_000, noon + 61_500)).toBe(60_000);
    expect(lead(noon - 61_000, noon - 60_000)).toBe(-60_000);
  });

  test('is unknown without a date', () => {
    expect(readClockLead({ headers: {}, sentAt: noon, receivedAt: noon })).toBeUndefined();
  });
});
