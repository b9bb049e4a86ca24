/** How the spreadsheet's locale writes numbers and dates. */
export interface Regional {
  readonly language: string;
  readonly decimal: string;
  readonly group: string;
  /** Order of the parts of a date that is typed in digits. */
  readonly dateOrder: 'ymd' | 'dmy' | 'mdy';
  readonly dateSeparator: string;
  /** `dd.mm.yyyy` and the like, in the letters of Google's patterns. */
  readonly datePattern: string;
  readonly timePattern: string;
  readonly currency: string;
  /** Pattern of an amount of money; `decimals` is `.00` or nothing. */
  readonly currencyPattern: (decimals: string) => string;
}

/** Money by country, which CLDR as Node has it does not tell. Elsewhere it is the euro. */
const CURRENCIES: Record<string, string> = {
  US: 'USD',
  GB: 'GBP',
  SE: 'SEK',
  NO: 'NOK',
  DK: 'DKK',
  CH: 'CHF',
  PL: 'PLN',
  CZ: 'CZK',
  BR: 'BRL',
  MX: 'MXN',
  JP: 'JPY',
  CN: 'CNY',
  IN: 'INR',
  CA: 'CAD',
  AU: 'AUD',
};

const known = new Map<string, Regional>();

/** What CLDR says of a locale such as `de_DE`; one that it does not know is written as `en_US`. */
export function regionalOf(locale: string): Regional {
  const found = known.get(locale) ?? readRegional(languageOf(locale));
  known.set(locale, found);
  return found;
}

function languageOf(locale: string): string {
  try {
    const [language] = Intl.DateTimeFormat.supportedLocalesOf(locale.replaceAll('_', '-'));
    return language ?? 'en-US';
  } catch {
    // A text that is no locale at all is refused by Intl with an exception.
    return 'en-US';
  }
}

function readRegional(language: string): Regional {
  const digits = new Intl.NumberFormat(language, { numberingSystem: 'latn' }).formatToParts(1_234_567.8);
  const textOf = (parts: { type: string; value: string }[], type: string) =>
    parts.find((part) => part.type === type)?.value ?? '';
  const format = {
    dateStyle: 'short',
    timeZone: 'UTC',
    calendar: 'gregory',
    numberingSystem: 'latn',
  } as const;
  const date = new Intl.DateTimeFormat(language, format).formatToParts(Date.UTC(2026, 1, 3));
  const fields = date.filter(({ type }) => type === 'year' || type === 'month' || type === 'day');
  const order = fields.map(({ type }) => type.slice(0, 1)).join('');
  const patterns: Record<string, string> = { year: 'yyyy', month: 'm', day: 'd' };
  const patternOf = ({ type, value }: { type: string; value: string }) =>
    type === 'year' ? 'yyyy' : (patterns[type] ?? '').repeat(value.length);
  const separator = date.find(({ type }) => type === 'literal')?.value.trim() || '/';
  const { hourCycle } = new Intl.DateTimeFormat(language, { hour: 'numeric' }).resolvedOptions();
  const country = new Intl.Locale(language).maximize().region ?? '';
  const currency = CURRENCIES[country] ?? 'EUR';
  const money = new Intl.NumberFormat(language, { style: 'currency', currency }).formatToParts(1);
  const symbol = textOf(money, 'currency');
  const space = money.some(({ type, value }) => type === 'literal' && /\s/.test(value)) ? ' ' : '';
  return {
    language,
    decimal: textOf(digits, 'decimal') || '.',
    group: textOf(digits, 'group'),
    dateOrder: order === 'ymd' || order === 'dmy' ? order : 'mdy',
    dateSeparator: separator,
    datePattern: fields.map(patternOf).join(separator),
    timePattern: hourCycle?.startsWith('h1') ? 'h:mm:ss am/pm' : 'HH:mm:ss',
    currency: symbol,
    currencyPattern: (decimals) =>
      money[0]?.type === 'currency'
        ? `"${symbol}${space}"#,##0${decimals}`
        : `#,##0${decimals}"${space}${symbol}"`,
  };
}
