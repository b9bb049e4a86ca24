/**
 * What one field of a record holds, in canonical form: the same whichever side it came from. Dates are
 * `YYYY-MM-DD`, instants are ISO 8601 in UTC, references are the id as a number, lists keep their order.
 * `null` is "empty"; a field that is not known is absent from its `Fields`, never `null`.
 */
export type Value = null | string | number | boolean | readonly string[];

/** Name of a field in canonical form: `title`, `about.url`, `custom.<field_key>`. */
export type FieldName = string;

/** Known fields of one record. An absent name means "not known", which is different from empty. */
export type Fields = Readonly<Record<FieldName, Value>>;

const isList = (value: Value): value is readonly string[] => Array.isArray(value);

/** Text with the line breaks of a sheet, and without half characters, which no request can carry. */
export const cleanText = (text: string): string =>
  text.includes('\r') || !text.isWellFormed() ? text.toWellFormed().replace(/\r\n?/g, '\n') : text;

/** Text is compared clean and in Unicode's composed form, so that `é` typed in two ways is one value. */
const normalText = (text: string): string => cleanText(text).normalize('NFC');

/** Whether two values are the same for a person: text in its normal form, lists by members regardless of order. */
export function equalValues(left: Value, right: Value): boolean {
  if (left === right) return true;
  if (typeof left === 'string' && typeof right === 'string') return normalText(left) === normalText(right);
  return isList(left) && isList(right) && equalLists(left, right);
}

const sortedList = (list: readonly string[]): readonly string[] => list.map(normalText).toSorted();

function equalLists(left: readonly string[], right: readonly string[]): boolean {
  const other = sortedList(right);
  return left.length === right.length && sortedList(left).every((member, index) => member === other[index]);
}

/** One text for all values that are the same for a person, to find one of many by: two have the same text where they are equal. */
export function sameText(value: Value): string {
  if (typeof value === 'string') return JSON.stringify(normalText(value));
  return JSON.stringify(isList(value) ? sortedList(value) : value);
}

/** The fields of `names` that `fields` knows. */
export function pickFields(fields: Fields, names: Iterable<FieldName>): Fields {
  const picked: Record<FieldName, Value> = {};
  for (const name of names) {
    const value = fields[name];
    if (value !== undefined) picked[name] = value;
  }
  return picked;
}

/** The fields that both know and that differ, by name. */
export function differingFields(left: Fields, right: Fields): FieldName[] {
  return Object.keys(left).filter((name) => {
    const [one, other] = [left[name], right[name]];
    return one !== undefined && other !== undefined && !equalValues(one, other);
  });
}

/** Whether both hold the same fields with the same values. */
export function equalFields(left: Fields, right: Fields): boolean {
  const names = Object.keys(left);
  return (
    names.length === Object.keys(right).length &&
    names.every((name) => {
      const [one, other] = [left[name], right[name]];
      return one !== undefined && other !== undefined && equalValues(one, other);
    })
  );
}

/** What there is of all fields but these. */
export function omit<Item>(
  items: Readonly<Record<FieldName, Item>>,
  names: Iterable<FieldName>,
): Readonly<Record<FieldName, Item>> {
  const left = { ...items };
  for (const name of names) delete left[name];
  return left;
}
