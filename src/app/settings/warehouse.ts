import { z } from 'zod';
import { isDecodable, isReadable } from '../../core/text/readable-url.ts';
import { isLoopback } from '../../http/guard.ts';
import { flag, section, share, text, whole } from './parts.ts';

const unreadableUrl =
  'must be an address such as postgres://user:password@host:5432/database; signs like /, # and % in the password are written as %2F, %23 and %25';

/** What is wrong with the address of a database; `undefined` for nothing. */
function findUrlFault(address: string): string | undefined {
  if (!/^postgres(ql)?:\/\//.test(address) || !isReadable(address)) return unreadableUrl;
  const { hostname, pathname, searchParams, username } = new URL(address);
  if (!isDecodable(hostname) || !isDecodable(pathname)) return unreadableUrl;
  if (username === '') return 'must name a user: postgres://user:password@host:5432/database';
  if (pathname.length < 2) return 'must end with the name of the database, as in …@host:5432/database';
  // Libraries disagree about what sslmode and the like mean.
  if ([...searchParams.keys()].some((name) => name !== 'host'))
    return 'must have no parameters but host: sslmode and the like are set by warehouse.tls and warehouse.caFile';
  return undefined;
}

const conflict = z.enum(['crm', 'warehouse', 'ask']);

const column = z.strictObject({
  direction: z
    .enum(['both', 'toWarehouse'])
    .optional()
    .describe('Which way edits go; toWarehouse has the column refuse edits by SQL.'),
  conflict: conflict
    .optional()
    .describe('Who wins when the CRM and SQL changed this field; the rule of warehouse.edits where absent.'),
});

const table = (isEnabled: boolean) =>
  section({
    enabled: flag(isEnabled, 'Whether these records have a table. Contacts cost a request for every lead.'),
    columns: z
      .record(z.string(), column)
      .default({})
      .describe('Rules for edits of single columns, by field name.'),
  });

/** The settings of the database that is kept the same. */
export const warehouse = z.strictObject({
  url: z
    .string()
    .refine((address) => findUrlFault(address) === undefined, {
      error: ({ input }) => findUrlFault(String(input)) ?? '',
    })
    .describe(
      'Address of the PostgreSQL database, with its login: from the environment or a secret file. Without it the link has no database.',
    ),
  urlFile: text('File with that address, where the environment does not have it.'),
  schema: z
    .string()
    .max(40)
    .regex(
      /^(?!pg_|public$|information_schema$)[a-z][a-z0-9_]*(?<!_sync)$/,
      'must be lower-case letters, digits and _, begin with a letter, be neither public nor begin with pg_, and not end with _sync',
    )
    .default('crm')
    .describe(
      'Schema of the tables, which the daemon makes and has for itself; of a link with a name crm_<link> where absent.',
    ),
  tls: z
    .enum(['verify', 'encrypt', 'off'])
    .optional()
    .describe(
      'Whether the connection is encrypted, and the certificate of the server checked; verify where absent, but off where the server is on this machine.',
    ),
  caFile: text(
    'File with the certificates that sign the one of the server, where the system does not have them.',
  ),
  freshnessMs: whole(
    0,
    60_000,
    'How often the table freshness is written at most; 0 never writes it, for databases that sleep (milliseconds)',
  ),
  history: z.enum(['on', 'off']).default('on').describe('Whether earlier versions of the records are kept.'),
  auditAt: z
    .string()
    .regex(/^(([01]\d|2[0-3]):[0-5]\d|off)$/, 'must be a time of the day such as 03:30, or off')
    .default('03:30')
    .describe("When all rows are compared with the CRM's records each day, in the time zone of the machine."),
  lostStages: z
    .array(z.string().min(1))
    .default([])
    .describe('Names of stages in which an opportunity counts as lost, whatever the CRM says of them.'),
  edits: section({
    enabled: flag(
      false,
      'Whether the tables can be edited by SQL: what is changed, inserted and deleted there goes to the CRM.',
    ),
    conflict: conflict
      .default('crm')
      .describe('Who wins when the CRM and SQL changed one field differently.'),
    vanishedRows: z
      .enum(['ask', 'trash', 'restore'])
      .default('ask')
      .describe(
        'What a row that was deleted by SQL means: a question, the trash of the CRM, or that it comes back. Contacts always ask.',
      ),
    bulkRows: whole(
      1,
      1_000,
      'A statement that reaches more rows is refused in its own session, unless its transaction says that it is meant.',
    ),
    wake: z
      .enum(['notify', 'poll'])
      .default('notify')
      .describe(
        'How edits are noticed: the database says so on a connection of its own, or they are looked for each pollMs, as behind a pooler of transactions.',
      ),
    pollMs: whole(1_000, 5_000, 'How often edits are looked for where wake is poll (milliseconds)'),
    keepDays: whole(
      1,
      90,
      'Days for which crm.edit keeps edits that are over; those that inserted a row stay 60 days longer.',
    ),
  }),
  brakes: section({
    changesMin: whole(0, 20, 'Rows of a table that may always be edited at once by SQL.'),
    changesShare: share(0.2, 'Share of a table whose rows may be edited at once by SQL.'),
    deletesMin: whole(0, 5, 'Rows of a table that may always be deleted within an hour, or by SQL at once.'),
    deletesShare: share(0.1, 'Share of a table whose rows may be deleted within an hour, or by SQL at once.'),
  }),
  tables: section({
    leads: table(true),
    opportunities: table(true),
    tasks: table(true),
    contacts: table(false),
  }),
});

export type WarehouseSettings = z.infer<typeof warehouse>;

/** Names the stores of the side in the mirror. */
export const warehouseStores = 'warehouse';

const defaultPort = '5432';

/** Names the database and the schema, without the login. */
export function warehouseName({ schema, url }: Pick<WarehouseSettings, 'schema' | 'url'>): string {
  const { port } = new URL(url);
  return `${hostOf(url)}:${port || defaultPort}/${databaseOf({ url })}/${schema}`;
}

/** The name of the database on its server. */
export const databaseOf = ({ url }: Pick<WarehouseSettings, 'url'>): string =>
  decodeURIComponent(new URL(url).pathname.slice(1));

/** The name or address of the server, or the directory of its socket. */
function hostOf(url: string): string {
  const { hostname, searchParams } = new URL(url);
  return searchParams.get('host') || decodeURIComponent(hostname.replace(/^\[|\]$/g, '')).toLowerCase();
}

/** How the connection is protected. */
export function warehouseTls({ tls, url }: WarehouseSettings): 'verify' | 'encrypt' | 'off' {
  const host = hostOf(url);
  return tls ?? (isLoopback(host) || host.startsWith('/') ? 'off' : 'verify');
}

/** Minutes from midnight until all rows are compared; `undefined` for never. */
export function auditMinuteOf({ auditAt }: WarehouseSettings): number | undefined {
  if (auditAt === 'off') return undefined;
  const [hours = 0, minutes = 0] = auditAt.split(':').map(Number);
  return hours * 60 + minutes;
}
