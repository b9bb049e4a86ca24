import { z } from 'zod';
import type { Choices } from '../control/choices.ts';
import { invalidArgument } from '../wire/google-error.ts';

/** A smart chip: a person, or a file of Google Drive. */
export const chipShape = z.object({
  personProperties: z.object({ email: z.string(), displayFormat: z.string().optional() }).optional(),
  richLinkProperties: z.object({ uri: z.string(), mimeType: z.string().optional() }).optional(),
});

const runShape = z.object({
  startIndex: z.number().int().nonnegative().optional(),
  chip: chipShape.optional(),
});

export const chipRunsShape = z.array(runShape);

export type ChipRun = z.infer<typeof runShape>;

/** The character that stands for a chip in the text of its cell. */
export const PLACEHOLDER = '@';

const DRIVE = /^https:\/\/(?:docs|drive)\.google\.com\//;

/**
 * The chips of a text that is written, in order; runs that have none may be left out and are not kept. Which words Google refuses with
 * no document says.
 * @throws GoogleError 400 for a chip without its placeholder, of nothing, or of a link that is no file of Drive.
 */
export function chipsToStore(runs: readonly ChipRun[], text: string | undefined): ChipRun[] | undefined {
  const chips = runs.filter(({ chip }) => chip);
  for (const { startIndex = 0, chip } of chips) {
    if (text?.[startIndex] !== PLACEHOLDER)
      throw invalidArgument(`chipRuns: there is no placeholder "${PLACEHOLDER}" at index ${startIndex}.`);
    const uri = chip?.richLinkProperties?.uri;
    if (!chip?.personProperties && uri === undefined)
      throw invalidArgument('chipRuns: a chip needs personProperties or richLinkProperties.');
    if (uri !== undefined && !DRIVE.test(uri))
      throw invalidArgument('chipRuns: only links to files of Google Drive can be written as chips.');
  }
  chips.sort((one, other) => (one.startIndex ?? 0) - (other.startIndex ?? 0));
  return chips.length > 0 ? chips : undefined;
}

/** The part of a cell that chips are about. */
interface ChippedText {
  userEnteredValue?: { stringValue?: string | undefined } | undefined;
  chipRuns?: ChipRun[] | undefined;
}

/** What a chip shows. Names of people and titles of files are not known here, so it is the address of either. */
const textOf = ({ chip }: ChipRun): string =>
  chip?.personProperties?.email ?? chip?.richLinkProperties?.uri ?? '';

/** The text of a cell with each chip's own text in the place of its character; undefined where there is no chip. */
export function textWithChips(cell: ChippedText | undefined): string | undefined {
  const { chipRuns, userEnteredValue } = cell ?? {};
  if (!chipRuns) return undefined;
  let text = userEnteredValue?.stringValue ?? '';
  for (const run of chipRuns.toReversed()) {
    const at = run.startIndex ?? 0;
    text = text.slice(0, at) + textOf(run) + text.slice(at + PLACEHOLDER.length);
  }
  return text;
}

/** A cell as it is read: what is entered shows each chip as one character or as its text, and what lies between chips is a run too. */
export function cellAsRead<Chipped extends ChippedText>(cell: Chipped, chipText: Choices['chipText']) {
  const { chipRuns, userEnteredValue } = cell;
  if (!chipRuns) return cell;
  const isShown = chipText === 'shown';
  const text = isShown ? textWithChips(cell) : userEnteredValue?.stringValue;
  const length = text?.length ?? 0;
  let shift = 0;
  const runs = chipRuns.flatMap((run, index): ChipRun[] => {
    const width = isShown ? textOf(run).length : PLACEHOLDER.length;
    const start = (run.startIndex ?? 0) + shift;
    shift += width - PLACEHOLDER.length;
    const next = chipRuns[index + 1]?.startIndex;
    const end = start + width;
    const isFollowedByText = end < (next === undefined ? length : next + shift);
    return [startingAt(start, run.chip), ...(isFollowedByText ? [startingAt(end)] : [])];
  });
  return { ...cell, userEnteredValue: { ...userEnteredValue, stringValue: text }, chipRuns: runs };
}

/** Google leaves out an index of 0. */
function startingAt(index: number, chip?: ChipRun['chip']): ChipRun {
  return { ...(index > 0 && { startIndex: index }), ...(chip && { chip }) };
}
