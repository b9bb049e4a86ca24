import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { dateToSerial, formatInstant, instantToSerial, serialToDate } from '../../src/core/text/dates.ts';
import { readTypedDate } from '../../src/core/text/typed-date.ts';

/** Zones that skipped days, change their clocks at midnight, or lie far from UTC. */
const machineZones = [
  'UTC',
  'Europe/Berlin',
  'America/Sao_Paulo',
  'Africa/Cairo',
  'Asia/Kathmandu',
  'Pacific/Apia',
  'Pacific/Kiritimati',
];

const anyDay = fc
  .date({ min: new Date('0001-01-01'), max: new Date('9999-12-31'), noInvalidDate: true })
  .map((date) => date.toISOString().slice(0, 10));

describe.each(machineZones)('calendar days on a machine in %s', (zone) => {
  const zoneBefore = process.env['TZ'];
  beforeEach(() => {
    process.env['TZ'] = zone;
  });
  afterEach(() => {
    if (zoneBefore === undefined) delete process.env['TZ'];
    else process.env['TZ'] = zoneBefore;
  });

  const days: [day: string, serial: number, why: string][] = [
    ['0001-01-01', -693_593, 'the first day that is understood'],
    ['0099-12-31', -657_435, 'its year has two digits'],
    ['1600-02-29', -109_512, 'a leap day long ago'],
    ['1887-06-02', -4_594, 'the days before the first serial number have negative ones'],
    ['1899-12-29', -1, 'the last of them'],
    ['1899-12-30', 0, 'where serial numbers begin'],
    ['1970-01-01', 25_569, 'where Unix begins'],
    ['1994-12-31', 34_699, 'Kiritimati skipped it'],
    ['2011-12-30', 40_907, 'Apia skipped it'],
    ['2018-11-04', 43_408, 'it began at one o’clock in São Paulo'],
    ['2024-02-29', 45_351, 'a leap day'],
    ['2024-04-26', 45_408, 'it began at one o’clock in Cairo'],
    ['2026-03-29', 46_110, 'it has 23 hours in Berlin'],
    ['2026-10-25', 46_320, 'it has 25 hours in Berlin'],
    ['9999-12-31', 2_958_465, 'the last day that is understood'],
  ];
  it.each(days)('%s is %i: %s', (day, serial) => {
    expect(dateToSerial(day)).toBe(serial);
    expect(serialToDate(serial)).toBe(day);
    // Who types such a year has forgotten a digit.
    expect(readTypedDate(day)).toEqual(day < '1000' ? [] : [day]);
  });

  it('S12: every day comes back from its serial number, typed or not', () => {
    fc.assert(
      fc.property(anyDay, (day) => {
        const [year, month, date] = day.split('-');
        expect(serialToDate(dateToSerial(day))).toBe(day);
        expect(readTypedDate(`${date}.${month}.${year}`)).toEqual(day < '1000' ? [] : [day]);
      }),
    );
  });
});

describe('serial numbers', () => {
  it.each<[number, string | undefined]>([
    [46_000.75, '2025-12-09'],
    [46_000.999, '2025-12-09'],
    [0.5, '1899-12-30'],
    [-0.5, '1899-12-29'],
    [-693_594, undefined],
    [-1e300, undefined],
    [2_958_466, undefined],
    [1e300, undefined],
    [Number.NaN, undefined],
  ])('%d is the day %s', (serial, day) => {
    expect(serialToDate(serial)).toBe(day);
  });

  it.each(['', 'soon', 'May 5', '2026-02-31T', '2026-1-5'])('“%s” has none', (text) => {
    expect(dateToSerial(text)).toBeNaN();
  });
});

describe('a date that a person typed', () => {
  it.each([
    ['2026-12-31', '2026-12-31'],
    ['2026-1-5', '2026-01-05'],
    ['2026/12/31', '2026-12-31'],
    ['2026.12.31', '2026-12-31'],
    ['2026年12月31日', '2026-12-31'],
    ['２０２６-１２-３１', '2026-12-31'],
    ['31.12.2026', '2026-12-31'],
    ['1.2.2026', '2026-02-01'],
    ['1. 2. 2026', '2026-02-01'],
    [' 2026-12-31\u200b ', '2026-12-31'],
    ['29.02.2024', '2024-02-29'],
    ['31/12/2026', '2026-12-31'],
    ['12/31/2026', '2026-12-31'],
    ['31-12-2026', '2026-12-31'],
    ['5/5/2026', '2026-05-05'],
    ['31 Dec 2026', '2026-12-31'],
    ['1oct 2026', '2026-10-01'],
    ['31-Dec-2026', '2026-12-31'],
    ['Dec 31, 2026', '2026-12-31'],
    ['December 31st, 2026', '2026-12-31'],
    ['Sept. 3, 2026', '2026-09-03'],
    ['31. Dezember 2026', '2026-12-31'],
    ['1. März 2026', '2026-03-01'],
    ['1er août 2026', '2026-08-01'],
    ['3 de abril de 2026', '2026-04-03'],
    ['3 maj 2026', '2026-05-03'],
  ])('“%s” means %s', (text, day) => {
    expect(readTypedDate(text)).toEqual([day]);
  });

  it.each([
    '29.02.2023',
    '2026-02-30',
    '2026-13-01',
    '2026-00-10',
    '0026-01-01',
    '01.02.26',
    '32/12/2026',
    '13/13/2026',
    '12026-01-01',
    '2026-12-31T10:00',
    '31 Foo 2026',
    'tomorrow',
    '2026',
    '',
  ])('“%s” is none', (text) => {
    expect(readTypedDate(text)).toEqual([]);
  });

  it('“3/4/2026” means one day here and another there', () => {
    expect(readTypedDate('3/4/2026')).toEqual(['2026-03-04', '2026-04-03']);
  });
});

describe('an instant', () => {
  const cases: [instant: string, zone: string, shown: string][] = [
    ['2026-01-01T00:00:00Z', 'UTC', '2026-01-01 00:00'],
    ['2026-03-29T00:59:59Z', 'Europe/Berlin', '2026-03-29 01:59'],
    ['2026-03-29T01:00:00Z', 'Europe/Berlin', '2026-03-29 03:00'],
    ['2026-10-25T00:30:00Z', 'Europe/Berlin', '2026-10-25 02:30'],
    ['2026-10-25T01:30:00Z', 'Europe/Berlin', '2026-10-25 02:30'],
    ['2026-07-01T22:00:00Z', 'Asia/Kathmandu', '2026-07-02 03:45'],
    ['2024-02-29T23:30:00Z', 'America/New_York', '2024-02-29 18:30'],
  ];
  it.each(cases)('fault 71: %s in %s shows as %s', (instant, zone, shown) => {
    const epochMs = Date.parse(instant);
    expect(formatInstant(epochMs, zone)).toBe(shown);
    const wall = Date.parse(`${shown.replace(' ', 'T')}:${instant.slice(17, 19)}Z`);
    expect(instantToSerial(epochMs, zone)).toBe((wall - Date.UTC(1899, 11, 30)) / 86_400_000);
  });
});
