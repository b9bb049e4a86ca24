import { explainError, isSyncError } from '../../core/errors.ts';
import { type Catalog, emptyCatalog } from '../../core/fields/catalog.ts';
import type { Entity } from '../../core/record.ts';
import {
  checkCredentials,
  type LoginLook,
  saysKeysForbidden,
  withoutKey,
} from '../../google/login/credentials.ts';
import { createLogin, type LoginOptions } from '../../google/login/login.ts';
import type { TabLook } from '../../google/probe.ts';
import { describeFound, type KeptAnswers } from '../../google/probes/answers.ts';
import { scratchTitle } from '../../google/probes/scratch.ts';
import { cellsMax } from '../../google/room.ts';
import { sheetFacts } from '../../sheet/facts.ts';
import { type RuleGround, resolveRule } from '../../sheet/only/rule.ts';
import { buildLayout } from '../../sheet/policy.ts';
import { sheetHints } from '../../sheet/port/errors.ts';
import { describeInstance } from '../../sheet/port/instance.ts';
import { tabOf } from '../../sheet/port/layout.ts';
import { questionTab } from '../../sheet/questions/question-tab.ts';
import { mirrorFile } from '../../sqlite/open.ts';
import { systemClock } from '../clock.ts';
import { openInstance } from '../instance.ts';
import { createLog } from '../logger.ts';
import { type SheetSettings, sheetEntities, tabNames, tabSettings } from '../settings.ts';
import { readAnswers, readPolicy } from '../sheet-side.ts';
import { bad, doubtful, type Examination, type Finding, findingOf, good, skipped } from './check.ts';
import type { DoctorContext } from './context.ts';
import { catalogExamination, readCatalogNow } from './crm.ts';
import { probeAndKeep } from './probing.ts';

/** From this share of the cells that a spreadsheet may have somebody should make room. */
const nearlyFullShare = 0.8;

/** What is looked at of the spreadsheet that the settings name. */
interface SheetContext extends DoctorContext {
  readonly sheet: NonNullable<DoctorContext['sheet']>;
  readonly terms: SheetSettings;
}

interface SheetExamination extends Omit<Examination, 'examine'> {
  readonly examine: (context: SheetContext, isGood: (name: string) => boolean) => Finding | Promise<Finding>;
}

const ofSheet = (examination: SheetExamination): Examination => ({
  ...examination,
  async examine(context, isGood) {
    const { settings, sheet } = context;
    if (!sheet || !settings.sheet)
      return skipped('GOOGLE_SPREADSHEET_ID is not set: there is no spreadsheet.');
    try {
      return await examination.examine({ ...context, sheet, terms: settings.sheet }, isGood);
    } catch (error) {
      if (!isSyncError(error, 'SHEET_UNREACHABLE')) throw error;
      return { ...findingOf(error), advice: networkAdvice };
    }
  },
});

const networkAdvice =
  'Check that this machine reaches sheets.googleapis.com and oauth2.googleapis.com: its network, DNS, proxy and firewall.';

const login: SheetExamination = {
  name: 'Google login',
  async examine({ sheet, terms }) {
    const { apiRootUrl } = terms;
    if (apiRootUrl !== undefined)
      return good(`nobody logs in: GOOGLE_API_ROOT_URL is ${new URL(apiRootUrl).origin}`);
    const refused = await sheet.look().then(
      () => undefined,
      (error: unknown) => {
        if (isSyncError(error, 'SHEET_UNREACHABLE')) throw error;
        return isSyncError(error, 'SHEET_UNAUTHORIZED') ? findingOf(error) : undefined;
      },
    );
    if (refused) return refused;
    const found = await lookAtLogin(terms);
    if (!found) return good('as the default account of this machine');
    const { account, words } = found;
    return good(
      account === undefined
        ? `by ${words}: share the spreadsheet with the address that logged in`
        : `as ${account}, by ${words}`,
    );
  },
};

/** Who logs in to Google with these settings, as far as that can be found. */
export const lookAtLogin = (options: LoginOptions): Promise<LoginLook | undefined> =>
  createLogin(options).look();

/** What is wrong with a credentials file, as far as the file alone shows it. */
export function findFileFault(file: string): string | undefined {
  try {
    checkCredentials(file);
    return undefined;
  } catch (error) {
    return explainError(error);
  }
}

/** What to do where somebody has Google's words that no key can be had, and nothing for other words. */
export const findKeyAdvice = (words: string): string | undefined =>
  saysKeysForbidden(words) ? `Your organisation forbids keys.${withoutKey}` : undefined;

const spreadsheet: SheetExamination = {
  name: 'spreadsheet',
  needs: [login.name],
  async examine({ sheet }) {
    const { title, locale, timeZone, cells } = await sheet.look();
    const found = `“${title}”, time zone ${timeZone}, locale ${locale}, ${cells} of ${cellsMax} cells`;
    return cells < cellsMax * nearlyFullShare ? good(found) : doubtful(found, sheetHints.SHEET_FULL);
  },
};

const owner: SheetExamination = {
  name: 'owner of the spreadsheet',
  // A CRM that does not answer may be at the wrong address: that comes first.
  needs: [spreadsheet.name, catalogExamination.name],
  async examine({ sheet }) {
    const { stranger } = await sheet.look();
    return stranger === undefined ? good('no other CRM and no other spreadsheet') : bad(stranger, unwritten);
  },
};

const unwritten = 'Until then nothing is written.';

/** Which daemons work on the spreadsheet; whether one of them still lives, a single look does not show. */
const daemons: SheetExamination = {
  name: 'daemons on the spreadsheet',
  needs: [owner.name],
  async examine({ sheet, state }) {
    const { keeper, waiting } = (await sheet.look()).marks;
    if (!keeper) return good('none keeps it now');
    const found = `kept by a daemon (${describeInstance(keeper.instance)})`;
    if (waiting)
      return doubtful(
        `${found}; another one (${describeInstance(waiting.instance)}) waits and writes nothing`,
        sheetHints.SHEET_KEPT,
      );
    // A state directory that is in use is that of a running daemon.
    if (state.kind === 'closed') return good(found);
    return doubtful(
      `${found}, and none runs with this state directory`,
      'Stop that one before you start another. If it has ended without a stop, the next one takes its place within three minutes.',
    );
  },
};

const writing: SheetExamination = {
  name: 'spreadsheet for writing',
  examine: () =>
    skipped('Not tried, because trying it would write: the account that logs in must be an editor of it.'),
};

/** What no document says of Google, as it was found out in this spreadsheet. */
const behaviour: SheetExamination = {
  name: 'behaviour of Google',
  needs: [owner.name],
  async examine({ isProbing, settings, state, terms }) {
    if (state.kind === 'closed')
      return isProbing ? bad(stateInUse, 'Stop the daemon first.') : skipped(stateInUse);
    const { mirror } = state;
    if (isProbing) {
      const own = openInstance({ now: systemClock.now(), lockedFile: mirrorFile(settings.state.directory) });
      const around = { isOver: own.isOver, mirror, log: createLog('silent') };
      const outcome = await probeAndKeep({ ...settings, sheet: terms }, around).finally(own.close);
      if (outcome.state === 'notAsked') return doubtful(outcome.reason, 'Then run doctor --probe again.');
      if (outcome.isTabLeft) return doubtful(describeAnswers(outcome), tabLeftAdvice);
    }
    const kept = readAnswers(mirror, terms);
    if (kept) return good(describeAnswers(kept));
    return skipped('Not found out yet, so that the safest way is taken. init does it, and doctor --probe.');
  },
};

const stateInUse = 'The state directory, where it is kept, is in use by the daemon.';

const tabLeftAdvice = `Delete the hidden tab “${scratchTitle}”, or run doctor --probe again.`;

const describeAnswers = ({ at, found }: KeptAnswers): string =>
  [`found out on ${new Date(at).toISOString().slice(0, 10)}.`, ...describeFound(found)].join(' ');

const tab = (entity: Entity): SheetExamination => ({
  name: `tab of ${tabNames[entity]}`,
  needs: [spreadsheet.name],
  async examine(context, isGood) {
    const { crm, sheet, state, terms } = context;
    // Custom fields are columns: as the CRM has them now, else as the daemon last read them.
    const catalog = isGood(catalogExamination.name)
      ? await readCatalogNow(crm)
      : state.kind === 'open'
        ? state.mirror.readCatalog()
        : undefined;
    const layout = buildLayout(sheetEntities(terms), readPolicy(terms), catalog ?? emptyCatalog);
    const look = await sheet.lookAtTab(tabOf(layout, entity)!);
    const { only } = tabSettings(terms, entity);
    const rule = only && catalog && resolveRule(entity, only, groundOf(context, catalog, entity));
    if (rule?.kind === 'fault')
      return bad(
        `Its rule cannot be followed. ${rule.fault}`,
        `Correct sheet.tabs.${tabNames[entity]}.only, or what it names in the CRM.`,
      );
    return judgeTab(look, entity !== 'lead' || catalog !== undefined);
  },
});

/** What a rule is understood by: the names of the settings, and what the daemon understood by it before. */
function groundOf({ settings, state }: DoctorContext, catalog: Catalog, entity: Entity): RuleGround {
  const users = Object.entries(settings.crm.users).map(([id, name]) => ({ id, name }));
  const applied = state.kind === 'open' ? state.mirror.readFact(sheetFacts.only(entity)) : undefined;
  return { catalog: users.length === 0 ? catalog : { ...catalog, users }, before: applied?.named };
}

/** People may do without this tab: what waits is answered by the command as well. */
const conflictsTab: SheetExamination = {
  name: 'tab of conflicts',
  needs: [spreadsheet.name],
  async examine({ sheet, terms }) {
    const { enabled, title } = terms.conflicts;
    if (!enabled) return skipped('Switched off by sheet.conflicts.enabled.');
    const look = await sheet.lookAtTab(questionTab(title));
    if (look.state === 'found') return judgeTab(look, true);
    const found = look.state === 'held' ? look.reason : `There is no tab “${title}” with content.`;
    return doubtful(
      found,
      'Run init and start the daemon again; until then the command answer takes the answers.',
    );
  },
};

function judgeTab(look: TabLook, knowsColumns: boolean): Finding {
  const { title } = look;
  const lay = 'Run init: it lays out what is missing and changes no content.';
  if (look.state === 'absent') return bad(`There is no tab “${title}”.`, lay);
  if (look.state === 'empty') return bad(`“${title}” is empty.`, lay);
  if (look.state === 'held') return bad(look.reason, 'Until then nothing is written to this tab.');
  const { missing, own } = look;
  const found = [
    `“${title}” has ${look.rows} rows`,
    missing.length > 0 ? `without ${missing.join(', ')}` : 'all managed columns are there',
    ...(knowsColumns && own.length > 0 ? [`columns of people: ${own.join(', ')}`] : []),
    ...(knowsColumns ? [] : ["custom fields were not looked for, because the CRM's are not known"]),
  ].join('; ');
  if (missing.length === 0) return good(found);
  return doubtful(
    found,
    'Run init --add-columns to add them, or set direction to off for fields that the sheet is not to show.',
  );
}

/** Everything about the spreadsheet, with the tabs of these entities. */
export const sheetExaminations = (entities: readonly Entity[]): readonly Examination[] =>
  [login, spreadsheet, owner, daemons, writing, behaviour, ...entities.map(tab), conflictsTab].map(ofSheet);
