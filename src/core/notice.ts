import type { Agreement } from './state.ts';
import { cutText } from './text/cut-text.ts';
import type { FieldName } from './value.ts';

/** For so long a notice comes before everything else that is said at its row. */
const freshMs = 24 * 60 * 60 * 1_000;

/** A longer text would hide since when both sides are the same. */
const noticeLengthMax = 800;

/** Of so many fields the values that lost are named. */
const fieldsMax = 5;

/** How a notice begins, by whose value lost. The first has a colour of its own. */
export const changedByCrm = 'Changed by the CRM';
const replacedInCrm = 'Replaced in the CRM';

/** A value that lost, in words: `Title was “Acme”`. */
export interface Loss {
  readonly field: FieldName;
  readonly words: string;
}

const describeLosses = (mark: string, losses: readonly Loss[]): string => {
  if (losses.length === 0) return '';
  const [named, left] = [losses.slice(0, fieldsMax), losses.length - fieldsMax];
  const words = named.map((loss) => loss.words).join(', ');
  return left > 0 ? `${mark}: ${words} and ${left} more` : `${mark}: ${words}`;
};

/** Says at a row which values of the sheet the CRM's replaced; empty for none. */
export const tellChanged = (losses: readonly Loss[]): string => describeLosses(changedByCrm, losses);

/** Says at a row which values of the CRM the sheet's replaced; empty for none. */
export const tellReplaced = (losses: readonly Loss[]): string => describeLosses(replacedInCrm, losses);

type Told = Pick<Agreement, 'notice' | 'noticed'>;

/**
 * The notice once `fields` have changed: the new one, about `noticed` of them, and the one before while it is fresh and none of
 * what it is about has changed since.
 */
export function nextNotice(
  before: Told,
  change: {
    readonly fields: readonly FieldName[];
    readonly noticed?: readonly FieldName[] | undefined;
    readonly notice: string;
    readonly at: number;
  },
): Told {
  const { at, fields, notice, noticed = fields } = change;
  const isKept = isFresh(before, at) && !before.noticed?.fields.some((field) => fields.includes(field));
  const told = isKept ? before : { notice: '' };
  if (notice === '') return { notice: told.notice, noticed: told.noticed };
  const both = told.notice === '' ? notice : `${notice}. ${told.notice}`;
  return {
    notice: cutText(both, noticeLengthMax),
    noticed: { at, fields: [...noticed, ...(told.noticed?.fields ?? [])] },
  };
}

/** Whether a notice is to come first. */
export const isFresh = ({ noticed }: Told, now: number): boolean =>
  noticed !== undefined && now - noticed.at < freshMs;

/** When the next of these notices stops being fresh, epoch ms. */
export const nextStale = (agreements: readonly Told[], now: number): number =>
  agreements.reduce(
    (earliest, told) =>
      told.noticed && isFresh(told, now) ? Math.min(earliest, told.noticed.at + freshMs) : earliest,
    Number.POSITIVE_INFINITY,
  );
