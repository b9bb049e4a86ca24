import { type Moment, momentOfSerial } from '../../core/text/dates.ts';
import { plainText } from '../../core/text/plain-text.ts';
import { monthOfName } from '../../core/text/typed-date.ts';
import { readTypedNumber } from '../../core/text/typed-number.ts';
import { type Cell, isShownAsPercent } from './cell.ts';

// What a cell's format makes of its number. Sheets makes days of what people type as `1/2` or, in a German sheet, as `10.5`, and times of
// `1:30` or, in a Swedish sheet, of `10.5` and `1250.50`. Formats differ by country and by taste, so that not the look tells but whether it
// shows the very day or time of the number.

/** Whether people see the number as a day or a time. */
export function isShownAsMoment(cell: Cell): boolean {
  if (cell.kind !== 'number' || cell.shown === undefined || isShownAsNumber(cell)) return false;
  const moment = momentOfSerial(cell.number);
  const shown = plainText(cell.shown);
  return showsTime(shown, cell.number, moment) || showsDay(shown, moment);
}

/** No day and no time is shown with one, nor as a percentage. */
const exponent = /\dE[-+]?\d/i;

/** Whether people see a bare number, be it rounded: nothing tells them what day that is. */
export function isShownAsNumber(cell: Cell): boolean {
  if (cell.kind !== 'number') return false;
  if (cell.shown === undefined || isShownAsPercent(cell)) return true;
  const shown = plainText(cell.shown);
  return (
    exponent.test(shown) || readShown(shown).some((read) => isRounded(Math.abs(cell.number), Math.abs(read)))
  );
}

/** What may be read as a number, whatever the currency beside it. */
function readShown(shown: string): readonly number[] {
  const { numbers } = readTypedNumber(shown);
  if (numbers.length > 0) return numbers;
  const [numeral = '', ...others] = shown.match(/\d(?:[\d.,'’\s]*\d)?/g) ?? [];
  return others.length > 0 || numeral === shown ? [] : readTypedNumber(numeral).numbers;
}

function isRounded(number: number, read: number): boolean {
  const decimals = String(read).split('.')[1]?.length ?? 0;
  // A little more than half, because 0.125 shows as 0.13.
  return Math.abs(number - read) <= 0.51 * 10 ** -decimals;
}

/** Whether the day of the number can not be seen: people see a bare number, or hours as a duration counts them, in all its days together. */
export function isShownWithoutDay(cell: Cell): boolean {
  if (cell.kind !== 'number' || isShownAsNumber(cell)) return cell.kind === 'number';
  const shown = plainText(cell.shown ?? '');
  if (!timePattern.test(shown)) return false;
  const moment = momentOfSerial(cell.number);
  return showsClock(shown, [durationHours(cell.number, moment)], moment);
}

/** Whether people see the time of the day that the number is. */
export const isShownWithTime = (cell: Cell): boolean =>
  cell.kind === 'number' &&
  cell.shown !== undefined &&
  showsTime(plainText(cell.shown), cell.number, momentOfSerial(cell.number));

/** Between hours and minutes some countries put a dot. */
const timePattern = /(\d+)[:.](\d\d)(?!\d)/;
const hoursOfDay = 24;

/** A duration counts the hours of its days too. */
const durationHours = (serial: number, { hour }: Moment): number => Math.floor(serial) * hoursOfDay + hour;

function showsTime(shown: string, serial: number, moment: Moment): boolean {
  const { hour } = moment;
  // A clock of twelve hours begins anew at noon.
  return showsClock(shown, [hour, hour % 12 || 12, durationHours(serial, moment)], moment);
}

function showsClock(shown: string, hoursShown: readonly number[], { minute }: Moment): boolean {
  const [, hours, minutes] = timePattern.exec(shown) ?? [];
  return hours !== undefined && hoursShown.includes(Number(hours)) && Number(minutes) === minute;
}

const orders = ['d m', 'm d', 'm y', 'y m', 'd m y', 'm d y', 'y m d'];
const ordersBesideName = ['d', 'y', 'd y', 'y d'];

function showsDay(shown: string, { year, month, day }: Moment): boolean {
  const parts = shown.match(/\d+/g) ?? [];
  const words = shown.match(/\p{L}+/gu) ?? [];
  const isNamed = words.some((word) => monthOfName(word) === month);
  const isPart = (text: string, part: string | undefined): boolean => {
    if (part === 'y') return Number(text) === year || text === String(year).slice(-2);
    return text.length <= 2 && Number(text) === (part === 'd' ? day : month);
  };
  return (isNamed ? ordersBesideName : orders)
    .map((order) => order.split(' '))
    .some((order) => order.length === parts.length && parts.every((text, at) => isPart(text, order[at])));
}
