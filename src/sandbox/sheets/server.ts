import fastify from 'fastify';
import { type ChoicesInput, choicesBySpreadsheet } from './control/choices.ts';
import { addSpreadsheet, choose, createDocuments } from './documents.ts';
import { registerGoogleRoutes } from './google-routes.ts';
import { registerGridPage } from './grid-page.ts';
import { createQuota, GOOGLE_QUOTA, type QuotaLimits } from './quota.ts';
import { createSandbox } from './sandbox.ts';
import { registerSandboxRoutes } from './sandbox-routes.ts';

/** Google's front ends refuse larger bodies. */
const MAX_BODY_BYTES = 10_485_760;

export interface SandboxSheetsOptions {
  /** 0 or nothing takes a free port. */
  port?: number;
  host?: string;
  /** The id of the spreadsheet made at the start; by default it follows from the seed. */
  spreadsheetId?: string;
  title?: string;
  timeZone?: string;
  /** `en_US` unless given. */
  locale?: string;
  seed?: number;
  quotas?: Partial<QuotaLimits>;
  /** What spreadsheets do where no document says what Google does, by their ids, or `*` for all. */
  choices?: ChoicesInput;
  /** Milliseconds that only go up; by default the system's clock. */
  clock?: () => number;
}

export interface SandboxSheets {
  /** What `rootUrl` of the Google client is set to. */
  rootUrl: string;
  spreadsheetId: string;
  gridUrl: string;
  close: () => Promise<void>;
}

/** Serves an emulated Google Sheets account with one empty spreadsheet, and a page to edit it by hand. */
export async function startSandboxSheets(options: SandboxSheetsOptions = {}): Promise<SandboxSheets> {
  const { port = 0, host = '127.0.0.1', seed = 1, clock = Date.now, quotas, choices = {}, ...sent } = options;
  const documents = createDocuments(seed);
  choose(documents, choicesBySpreadsheet.parse(choices));
  const file = addSpreadsheet(documents, { title: 'CRM', ...sent }, clock());
  const { spreadsheetId } = file.spreadsheet;
  const sandbox = createSandbox(documents, createQuota({ ...GOOGLE_QUOTA, ...quotas }), clock);

  const server = fastify({
    bodyLimit: MAX_BODY_BYTES,
    forceCloseConnections: true,
    routerOptions: { maxParamLength: 4096 },
  });
  registerGoogleRoutes(server, sandbox);
  registerSandboxRoutes(server, sandbox, spreadsheetId);
  registerGridPage(server);
  const rootUrl = await server.listen({ port, host });
  return { rootUrl, spreadsheetId, gridUrl: `${rootUrl}/`, close: () => server.close() };
}
