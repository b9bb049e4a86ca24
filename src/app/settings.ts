import { z } from 'zod';
import { alertFormats } from '../alerts/webhook.ts';
import { type Entity, entities } from '../core/record.ts';
import { isReadable } from '../core/text/readable-url.ts';
import { logLevels } from './logger.ts';
import { httpSettings } from './settings/http.ts';
import { count, flag, milliseconds, section, share, tabTitle, text, whole } from './settings/parts.ts';
import { type WarehouseSettings, warehouse } from './settings/warehouse.ts';

const conflict = z.enum(['crm', 'sheet', 'ask']);

const column = z.strictObject({
  header: text('Text above the column.'),
  direction: z.enum(['both', 'toSheet', 'off']).optional().describe('Which way edits go.'),
  conflict: conflict
    .optional()
    .describe("Who wins when both sides changed this field; the tab's rule where absent."),
  blank: z
    .enum(['leave', 'clear', 'refuse'])
    .optional()
    .describe(
      'What an emptied cell means: the value comes back, the field is cleared in the CRM (clear, where absent), or an error.',
    ),
});

const vanishedRows = z.enum(['ask', 'trash', 'restore']);

const said = z.union([z.string(), z.number(), z.boolean(), z.null()], {
  error: 'must be a value or a list of values',
});
const wanted = z.union([said, z.array(said)], { error: 'must be a value or a list of values' });
const only = z
  .record(
    z.string(),
    z
      .union([wanted, z.record(z.string(), wanted)], { error: 'must be a value or a list of values' })
      .describe(
        'What its records have in that field: a value, or several; null is an empty field. There are also updatedWithinDays, owner, stage.pipeline, and lead with a rule for the lead.',
      ),
  )
  .optional()
  .describe(
    'Which records the tab has; all where there is no rule. What does not fit stays in the CRM, and has no row.',
  );

const tab = (title: string) =>
  z.strictObject({
    title: tabTitle(title, 'Name of the tab.'),
    conflict: conflict.default('crm').describe('Who wins when both sides changed one field differently.'),
    columns: z.record(z.string(), column).default({}).describe('Rules for single columns, by field name.'),
    vanishedRows: vanishedRows
      .optional()
      .describe("What a row that is gone from this tab means for the CRM; the sheet's rule where absent."),
    pauseColumn: text(
      'Header of a column of checkboxes; a row that is ticked there is left alone. None where absent.',
    ),
    order: z
      .array(z.string())
      .default([])
      .describe('Fields whose columns come first in a new tab, from left to right; the others follow.'),
    only,
  });

/** Contacts cost a request for every lead, so only those who want them have them. */
const contactsTab = z.strictObject({
  enabled: flag(false, 'Whether contacts are kept the same at all.'),
  ...tab('Contacts').shape,
});

const apiKey = z
  .string()
  .regex(/^svc_live_[0-9a-f]{64}$/i, 'must be svc_live_ followed by 64 hexadecimal characters');

const userId = z
  .string()
  .regex(/^[^\s,;]+$/, 'must be the id of a user, without blanks, commas and semicolons');

/** A number would read as an id. */
const userName = z
  .string()
  .trim()
  .regex(/^(?!\d+$).+$/, 'must be a name in one line, and not a number')
  .describe('What the user is called; the name is shown in place of the id.');

const crm = z.strictObject({
  baseUrl: z.url().describe('Address of the CRM, with the path prefix /api/v1/external.'),
  apiKey: apiKey.describe(
    'Key of the CRM: from the environment or a secret file, not from the configuration.',
  ),
  apiKeyFile: text('File with that key, where the environment does not have it.'),
  apiKeys: z
    .array(apiKey)
    .default([])
    .describe(
      'Further keys of the same account, each with a budget of its own; in the environment separated by commas or line breaks.',
    ),
  recordUrl: z
    .string()
    .regex(
      /^https?:\/\/.*\{id\}/,
      'must be an address with {id} in it, such as https://crm.example/{entity}/{id}',
    )
    .optional()
    .describe(
      'Address of a record in the CRM for people, with {entity} (lead, opportunity, task, contact), {id} and, of contacts, {lead}. A tab shows it in the column record_url.',
    ),
  timeoutMs: milliseconds(20_000, 'Longest time one request to the CRM may take'),
  budget: section({
    requests: count(100, 'Requests the CRM allows per key in the rolling window.'),
    windowMs: milliseconds(60_000, 'Length of the rolling window'),
  }),
  ipBudget: section({
    requests: count(200, 'Requests the CRM allows per address in the same window, with all keys together.'),
  }),
  sweepMs: milliseconds(15_000, 'Pause between the starts of two complete reads of an entity'),
  contactsPauseMs: milliseconds(2_000, 'Pause between two leads whose contacts are read'),
  catalogMs: milliseconds(300_000, 'Age at which stages, statuses and custom fields are read again'),
  // A list may show what a record was seconds ago: an update that trusts it overwrites what was written meanwhile.
  rereadAfterMs: milliseconds(
    0,
    'A record seen longer ago than this is read again before it is updated; more than 0 trusts that lists of the CRM never lag, and may write over what was changed there in that time',
  ),
  settleMs: milliseconds(60_000, 'How long a create of unknown outcome rests before it is looked for'),
  lagMs: milliseconds(5_000, 'How long lists of the CRM may still show what was just overwritten'),
  users: z.record(userId, userName).default({}).describe('Names of the users of the CRM, by their ids.'),
});

const nothingNamed =
  'is missing: name a spreadsheet here, or a database in warehouse.url (WAREHOUSE_URL), or both';

/** The settings of the spreadsheet that is kept the same. */
export const sheet = z.strictObject({
  spreadsheetId: z
    .string({ error: ({ input }) => (input === undefined ? nothingNamed : undefined) })
    .trim()
    .regex(
      /^[\w-]+$/,
      'must be the id in the address of the spreadsheet: what stands between /d/ and the next slash',
    )
    .describe("The long id in the spreadsheet's address; without it the link has no spreadsheet."),
  credentialsFile: text('Credentials file of Google; without it, the default login of the machine is used.'),
  apiRootUrl: z.url().optional().describe('An emulator of Google; then there is no Google login.'),
  timeoutMs: milliseconds(60_000, 'Longest time one request to Google may take'),
  pollMs: milliseconds(
    5_000,
    'Time from the beginning of one read of the sheet to that of the next, while nothing is written',
  ),
  quietPollMs: milliseconds(
    30_000,
    'What that time grows to while nothing changes: it doubles with each hour, and the first change ends that',
  ),
  fullReadMs: milliseconds(
    300_000,
    'In which time each row of a large sheet is read once with its formulas and formats, 2,000 rows in each look at most; in between only rows are whose values changed',
  ),
  typingPauseMs: milliseconds(2_000, 'How long a row must be unchanged before it is taken'),
  readsPerMinute: count(60, 'Reads Google allows per user and minute.'),
  writesPerMinute: count(60, 'Writes Google allows per user and minute.'),
  appendsMax: count(1_000, 'New rows written in one cycle at most.'),
  vanishedRows: vanishedRows
    .default('ask')
    .describe('What a row that is gone from the sheet means for the CRM.'),
  brakes: section({
    deletesMin: whole(
      0,
      5,
      'Rows or records that may always go at once, and cells of a column that may always be emptied.',
    ),
    deletesShare: share(
      0.1,
      'Share of a tab whose rows or records may go at once, and of a column whose cells may be emptied.',
    ),
    changesMin: whole(0, 50, 'Rows that may always change at once.'),
    changesShare: share(0.2, 'Share of a tab whose rows may change at once.'),
    columnMin: whole(0, 20, 'Cells of one column that may always change at once.'),
    columnShare: share(0.3, 'Share of one column whose cells may change at once.'),
  }),
  conflicts: section({
    enabled: flag(true, 'Whether a tab lists what waits for a person, to be answered there.'),
    title: tabTitle('Conflicts', 'Name of that tab.'),
  }),
  tabs: section({
    leads: tab('Leads').prefault({}),
    opportunities: tab('Opportunities').prefault({}),
    tasks: tab('Tasks').prefault({}),
    contacts: contactsTab.prefault({}),
  }),
});

const writes = z
  .enum(['automatic', 'manual'])
  .describe('Whether plans are done by themselves, or nothing is written until a person applies one.');

/** Environment variables of a link end in its name, and those of secret files in `_FILE`. */
const linkName = z
  .string()
  .regex(
    /^(?!(.*-)?file$)[a-z][a-z0-9]*(-[a-z0-9]+)*$/,
    'must be lower-case letters, digits and single hyphens, begin with a letter and not end with file',
  );

/** What a link has for itself; it is checked as part of the whole that it stands in. */
const ownSettings = (section: string) =>
  z.record(z.string(), z.unknown()).optional().describe(`Of ${section}, what this link has for itself.`);

const link = z.strictObject({
  crm: ownSettings('crm'),
  sheet: ownSettings('sheet'),
  warehouse: ownSettings('warehouse'),
  writes: writes.optional(),
});

const unreadableRedis =
  'must be an address such as redis://:password@host:6379; signs like /, # and % in the password are written as %2F, %23 and %25';

const unreadableLogin = 'a sign % in the name or the password must be written as %25';

/** Every setting there is: its type, unit, default and meaning. The configuration file has this shape. */
export const settingsSchema = z.strictObject({
  crm,
  sheet: sheet.optional(),
  warehouse: warehouse.optional(),
  writes: writes.default('automatic'),
  links: z
    .record(linkName, link)
    .default({})
    .describe(
      'Several accounts with their spreadsheets and databases, by names of your own; one without a name where empty.',
    ),
  queue: section({
    redisUrl: z
      .string()
      .regex(/^rediss?:\/\//, 'must begin with redis:// or rediss://')
      .refine((text) => !/^rediss?:/.test(text) || isReadable(text), unreadableRedis)
      .optional()
      .describe('Address of Redis for the queue; without it the queue runs in the process.'),
    concurrency: count(4, 'Records that are sent to the CRM at the same time.'),
  }),
  state: section({
    directory: z.string().min(1).default('state').describe('Where the mirror lives.'),
    historyDays: whole(1, 365, 'Days that the history is kept, so that what was changed can be taken back.'),
    backups: count(10, 'Copies of the mirror that are kept, the newest; as many from before upgrades.'),
  }),
  http: httpSettings,
  health: section({
    graceMs: milliseconds(60_000, 'How long trouble that can pass by itself may last before it counts'),
    editAgeMs: milliseconds(900_000, 'How long an edit may wait until it is sent to the CRM'),
    sweepAgeMs: milliseconds(1_800_000, 'How old the last complete read of a list of the CRM may be'),
  }),
  alerts: section({
    webhookUrl: z
      .url()
      .refine((text) => !URL.canParse(text) || isReadable(text), unreadableLogin)
      .optional()
      .describe(
        'Address that gets each condition of the health when it begins and when it ends; Slack takes it too.',
      ),
    format: z
      .enum(alertFormats)
      .default('json')
      .describe(
        'The form of what is posted there: slack and teams have nothing but the text, json has all fields.',
      ),
  }),
  log: section({ level: z.enum(logLevels).default('info').describe('What is logged.') }),
  // Longer than the longest request, so that what is on its way can end.
  stopGraceMs: milliseconds(65_000, 'Longest time a clean stop may take'),
});

/** The settings of one link. */
export interface Settings extends z.infer<typeof settingsSchema> {
  /** Where it is one of several. */
  readonly link?: LinkPlace;
  /** Where the value of each variable comes from. */
  readonly sources?: Readonly<Record<string, string>>;
}

export type SheetSettings = z.infer<typeof sheet>;

/** The settings of all links; what is not of `crm`, `sheet` or `warehouse`, nor `writes`, is the same in each. */
export type LinkSettings = readonly [Settings, ...Settings[]];

/** A link's place among others. Its mirror lives in a directory of its own, which is its `state.directory`. */
export interface LinkPlace {
  readonly name: string;
  /** The state directory of all links together. */
  readonly commonDirectory: string;
}

/** The name of a tab or a table in the configuration. */
export const tabNames = {
  lead: 'leads',
  opportunity: 'opportunities',
  task: 'tasks',
  contact: 'contacts',
} as const satisfies Record<Entity, string>;

/** Where an environment variable goes. Secrets may come from a file instead, named by the variable with `_FILE` behind it. */
export interface EnvironmentVariable {
  readonly name: string;
  readonly path: readonly string[];
  readonly isSecret?: true;
  readonly isNumber?: true;
  /** A list of words, separated by commas, blanks or line breaks; or of lines, without blank ones and those that begin with #. */
  readonly list?: 'words' | 'lines';
}

/** Environment wins over the file. */
export const environmentVariables: readonly EnvironmentVariable[] = [
  { name: 'CRM_BASE_URL', path: ['crm', 'baseUrl'] },
  { name: 'CRM_API_KEY', path: ['crm', 'apiKey'], isSecret: true },
  { name: 'CRM_API_KEYS', path: ['crm', 'apiKeys'], isSecret: true, list: 'words' },
  { name: 'GOOGLE_SPREADSHEET_ID', path: ['sheet', 'spreadsheetId'] },
  { name: 'GOOGLE_APPLICATION_CREDENTIALS', path: ['sheet', 'credentialsFile'] },
  { name: 'GOOGLE_API_ROOT_URL', path: ['sheet', 'apiRootUrl'] },
  { name: 'WAREHOUSE_URL', path: ['warehouse', 'url'], isSecret: true },
  { name: 'REDIS_URL', path: ['queue', 'redisUrl'], isSecret: true },
  { name: 'STATE_DIR', path: ['state', 'directory'] },
  { name: 'HTTP_HOST', path: ['http', 'host'] },
  { name: 'HTTP_PORT', path: ['http', 'port'], isNumber: true },
  { name: 'CONTROL_TOKEN', path: ['http', 'controlToken'], isSecret: true },
  { name: 'CONTROL_TOKENS', path: ['http', 'controlTokens'], isSecret: true, list: 'lines' },
  { name: 'ALERT_WEBHOOK_URL', path: ['alerts', 'webhookUrl'], isSecret: true },
  { name: 'LOG_LEVEL', path: ['log', 'level'] },
];

/** The tab that belongs to an entity. */
export const tabSettings = ({ tabs }: SheetSettings, entity: Entity) => tabs[tabNames[entity]];

/** The entities that have a tab. */
export const sheetEntities = ({ tabs }: SheetSettings): readonly Entity[] =>
  entities.filter((entity) => entity !== 'contact' || tabs.contacts.enabled);

/** The entities that have a table. */
export const warehouseEntities = ({ tables }: WarehouseSettings): readonly Entity[] =>
  entities.filter((entity) => tables[tabNames[entity]].enabled);

/** The entities that are kept the same, at any side. */
export function enabledEntities({
  sheet,
  warehouse,
}: Pick<Settings, 'sheet' | 'warehouse'>): readonly Entity[] {
  const enabled = [
    ...(sheet ? sheetEntities(sheet) : []),
    ...(warehouse ? warehouseEntities(warehouse) : []),
  ];
  return entities.filter((entity) => enabled.includes(entity));
}

/** All entities with their tab. */
export const allTabs = (sheet: SheetSettings) =>
  entities.map((entity) => ({ entity, tab: tabSettings(sheet, entity) }));
