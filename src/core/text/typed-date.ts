import { once } from '../once.ts';
import { dateToSerial, serialToDate } from './dates.ts';
import { plainText } from './plain-text.ts';

/** Whose names of months are understood; a name that means two months in two of them is understood by nobody. */
const monthLanguages = ['en', 'de', 'fr', 'es', 'it', 'pt', 'nl', 'sv', 'da', 'nb', 'fi', 'pl', 'cs'];

/** Collected when the first name is asked about: most processes never need it, and it would make each of them start later. */
const knownMonths = once((): ReadonlyMap<string, number> => {
  const meanings = new Map<string, Set<number>>();
  for (const language of monthLanguages) {
    for (const style of ['long', 'short'] as const) {
      for (const withDay of [{}, { day: 'numeric' as const }]) {
        const format = new Intl.DateTimeFormat(language, { month: style, ...withDay, timeZone: 'UTC' });
        for (let month = 1; month <= 12; month += 1) {
          const part = format
            .formatToParts(Date.UTC(2026, month - 1, 1))
            .find(({ type }) => type === 'month');
          const key = monthKey(part?.value ?? '');
          meanings.set(key, (meanings.get(key) ?? new Set()).add(month));
        }
      }
    }
  }
  const clear = [...meanings].filter(([key, numbers]) => /\p{L}/u.test(key) && numbers.size === 1);
  return new Map(clear.map(([key, numbers]) => [key, [...numbers][0] ?? 0]));
});

const monthKey = (text: string): string => text.normalize('NFC').toLowerCase().replace(/\.$/, '');

/** The month, from 1 on, that a word names in one of the languages. */
export const monthOfName = (word: string): number | undefined => knownMonths().get(monthKey(word));

const yearFirst = /^(?<year>\d{4})(?:-|\/|\.|年)(?<month>\d{1,2})(?:-|\/|\.|月)(?<day>\d{1,2})日?$/;
const dayFirst = /^(?<day>\d{1,2})\.\s?(?<month>\d{1,2})\.\s?(?<year>\d{4})\.?$/;
const eitherFirst = /^(?<one>\d{1,2})([/-])(?<two>\d{1,2})\2(?<year>\d{4})$/;
const dayAndName =
  /^(?<day>\d{1,2})(?:\.|o(?!\p{L})|er)?[\s-]*(?:de )?(?<name>\p{L}+)\.?,?[\s-]*(?:de )?(?<year>\d{4})$/u;
const nameAndDay = /^(?<name>\p{L}+)\.?\s*(?<day>\d{1,2})(?:st|nd|rd|th)?,?\s+(?<year>\d{4})$/u;

/**
 * The days, as `YYYY-MM-DD`, that a text may mean: none when it is no date, two when it means one day here and another there:
 * `3/4/2026` is March in one country and April in the next.
 */
export function readTypedDate(text: string): string[] {
  const bare = plainText(text);
  const slashed = eitherFirst.exec(bare)?.groups;
  if (slashed) {
    const { one = '', two = '', year = '' } = slashed;
    return [...new Set([...toDay(year, one, two), ...toDay(year, two, one)])];
  }
  const named = (dayAndName.exec(bare) ?? nameAndDay.exec(bare))?.groups;
  if (named) {
    const month = monthOfName(named['name'] ?? '');
    return month === undefined ? [] : toDay(named['year'] ?? '', String(month), named['day'] ?? '');
  }
  const { year = '', month = '', day = '' } = (yearFirst.exec(bare) ?? dayFirst.exec(bare))?.groups ?? {};
  return toDay(year, month, day);
}

/** Who types an earlier year has forgotten a digit. */
const yearMin = '1000';

function toDay(year: string, month: string, day: string): string[] {
  const written = `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`;
  return written >= yearMin && serialToDate(dateToSerial(written)) === written ? [written] : [];
}
