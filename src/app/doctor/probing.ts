import type { Mirror } from '../../core/mirror.ts';
import type { Log } from '../../core/ports.ts';
import { keepAnswers } from '../../google/probes/answers.ts';
import { type ProbeOutcome, probeGoogle } from '../../google/probes/prober.ts';
import { sheetFacts } from '../../sheet/facts.ts';
import type { OwnInstance } from '../../sheet/port/instance.ts';
import { accountOf } from '../owner.ts';
import type { Settings, SheetSettings } from '../settings.ts';
import { sheetOptions } from '../sheet-side.ts';

/** What the probes are run with. */
interface Prober extends Pick<OwnInstance, 'isOver'> {
  readonly mirror: Mirror;
  readonly log: Log;
}

/** Finds out how Google behaves with the spreadsheet, and keeps it for whatever opens the spreadsheet from now on. */
export async function probeAndKeep(
  settings: Settings & { readonly sheet: SheetSettings },
  { isOver, log, mirror }: Prober,
): Promise<ProbeOutcome> {
  const { sheet } = settings;
  mirror.expectRoom();
  const outcome = await probeGoogle({ ...sheetOptions(sheet, log), account: accountOf(settings), isOver });
  if (outcome.state === 'asked') mirror.saveFact(sheetFacts.found, keepAnswers(sheet.spreadsheetId, outcome));
  return outcome;
}
