import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatDate, formatGeneral } from '../../src/sandbox/sheets/display/number-format.ts';
import { formatNumber } from '../../src/sandbox/sheets/display/number-pattern.ts';
import { regionalOf } from '../../src/sandbox/sheets/display/regional.ts';
import type { Cell } from '../../src/sheet/port/cell.ts';
import { isShownAsMoment, isShownAsNumber, isShownWithoutDay } from '../../src/sheet/port/shown-number.ts';

const cellOf = (number: number, shown: string): Cell => ({ kind: 'number', number, shown });
const locale = fc.constantFrom('en_US', 'en_GB', 'de_DE', 'fr_FR', 'sv_SE', 'pt_BR', 'ja_JP').map(regionalOf);

describe('a number that a sheet shows', () => {
  it.each([
    [46_152, '10.05.2026'],
    [46_152, '10.5.'],
    [46_152, '10.05.26'],
    [46_152, '5/10'],
    [46_152, '5/10/2026'],
    [46_152, '2026-05-10'],
    [46_152, '10-May'],
    [46_152, 'Sonntag, 10. Mai 2026'],
    [46_152, '10 mai 2026'],
    [46_152, 'May 2026'],
    [46_152.5625, '10/05/2026 13:30:00'],
    [0.0625, '1:30'],
    [0.0625, '01:30:00'],
    [0.5625, '1:30 PM'],
    [1.0625, '25:30:00'],
    [0, '30.12.1899'],
    [0, '0:00'],
    [46_152, '١٠\u200f/٥\u200f/٢٠٢٦'],
    [46_152, '१०/५/२६'],
    [0.4375, '10.30'],
    [0.4375, '10.30.00'],
    [0.4375, 'kl. 10.30'],
    [(1250 * 60 + 50) / 1440, '1250.50.00'],
  ])('is a day or a time where people see one: %d as %s', (number, shown) => {
    expect(isShownAsMoment(cellOf(number, shown))).toBe(true);
    expect(isShownAsNumber(cellOf(number, shown))).toBe(false);
  });

  it('is a day in any format of a day, in any country', () => {
    const pattern = fc.constantFrom(
      'yyyy-mm-dd',
      'dd.mm.yyyy',
      'm/d/yyyy',
      'd/m/yy',
      'm/d',
      'd-mmm-yyyy',
      'h:mm',
    );
    const serial = fc.integer({ min: 0, max: 90_000 * 1440 }).map((minutes) => minutes / 1440);
    fc.assert(
      fc.property(serial, pattern, locale, (number, format, regional) => {
        expect(isShownAsMoment(cellOf(number, formatDate(number, format, regional)))).toBe(true);
      }),
    );
  });

  it('is a number in any format of a number, in any country', () => {
    const pattern = fc.constantFrom(
      '',
      '0',
      '0.00',
      '#,##0',
      '#,##0.00',
      '0%',
      '0.00%',
      '0.00E+00',
      '#,##0.00 "€"',
      '[$€]#,##0.00',
      '[$€-407] #,##0.##;[Red]-[$€-407] #,##0.##',
      '_("$"* #,##0.00_);_("$"* \\(#,##0.00\\);_("$"* "-"??_);_(@_)',
    );
    const number = fc.oneof(
      fc.integer({ min: -100, max: 100_000 }),
      fc.integer({ min: -10_000, max: 10_000_000 }).map((cents) => cents / 100),
      fc.double({ noNaN: true, noDefaultInfinity: true, min: -1e12, max: 1e12 }),
    );
    fc.assert(
      fc.property(number, pattern, locale, (value, format, regional) => {
        const shown =
          format === ''
            ? formatGeneral(value, regional)
            : formatNumber(value, format, regional, formatGeneral);
        expect(isShownAsMoment(cellOf(value, shown))).toBe(false);
      }),
      { numRuns: 1_000 },
    );
  });

  it.each([
    [2026, '2026'],
    [46_387, '46.387'],
    [46_387, '46,387.00 €'],
    [1000, '1.00E+03'],
    [46_387, '4,64E+04'],
    [50, '5000%'],
    [50, '5000 %'],
    [2026, '၂၀၂၆'],
    [0.5, '%50'],
    [1.0448, '1.04'],
    [46_387.5, '46,388'],
    [0.125, '0,13 €'],
    [0, 'R 0.00'],
    [12, '12.00 Kč'],
    [-1250, '(1.250,00 Kč)'],
  ])('is a bare number where people see that: %d as %s', (number, shown) => {
    expect(isShownAsNumber(cellOf(number, shown))).toBe(true);
    expect(isShownAsMoment(cellOf(number, shown))).toBe(false);
  });

  it('is a time also where a country puts a dot between hours and minutes, beyond a day too', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 100_000 }), (minutes) => {
        const shown = `${Math.floor(minutes / 60)}.${String(minutes % 60).padStart(2, '0')}`;
        expect(isShownAsMoment(cellOf(minutes / 1440, shown))).toBe(true);
        expect(isShownWithoutDay(cellOf(minutes / 1440, `${shown}.00`))).toBe(true);
      }),
    );
  });

  it('shows its day with the time behind it', () => {
    expect(isShownWithoutDay(cellOf(46_152.5625, '10.05.2026 13.30'))).toBe(false);
    expect(isShownWithoutDay(cellOf(46_152, '2026.05.10'))).toBe(false);
  });
});
