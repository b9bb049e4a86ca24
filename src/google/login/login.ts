// The path matters: the whole package costs a second and 110 MB at start.
import { auth, type sheets_v4 } from 'googleapis/build/src/apis/sheets/index.js';
import { isSyncError } from '../../core/errors.ts';
import { loginError } from '../errors.ts';
import { checkCredentials, kindWords, type LoginLook } from './credentials.ts';

type Credentials = InstanceType<typeof auth.GoogleAuth>;

export interface LoginOptions {
  /** Credentials file of any kind that Google makes; without it, application default credentials are used. */
  readonly credentialsFile?: string | undefined;
  readonly timeoutMs: number;
  readonly agentFor?: AgentFor;
}

/** How an address is reached, as Node does it. */
export type AgentFor = Extract<sheets_v4.Options['agent'], (url: URL) => unknown>;

/** How the requests of a client get their token. */
export interface Login {
  /** What the library signs requests with, with a token that is good. Fails with SHEET_UNAUTHORIZED or SHEET_UNREACHABLE. */
  logIn(): Promise<Credentials>;
  /**
   * Takes note of what became of a request: where a login is refused, or may not do it, the next one begins anew, with what is in its file
   * then.
   */
  note(error: unknown): void;
  /** Who logs in, as far as that can be found; it is a help in messages, and that it is not known is no error of its own. */
  look(): Promise<LoginLook | undefined>;
}

export function createLogin(options: LoginOptions): Login {
  let opened: Promise<Credentials> | undefined;
  const open = () => {
    opened ??= openCredentials(options);
    return opened;
  };
  const note = (error: unknown) => {
    if (isSyncError(error, 'SHEET_UNAUTHORIZED', 'SHEET_FORBIDDEN', 'SHEET_NOT_FOUND')) opened = undefined;
  };
  return {
    note,
    async logIn() {
      let type: string | undefined;
      try {
        const credentials = await open();
        type = typeOf(credentials);
        await credentials.getAccessToken();
        return credentials;
      } catch (error) {
        const failure = isSyncError(error) ? error : loginError(error, type);
        note(failure);
        throw failure;
      }
    },
    look: () =>
      open().then(
        async (credentials) => ({
          words: kindWords(typeOf(credentials)),
          account: await findAccount(credentials),
        }),
        () => undefined,
      ),
  };
}

/** The type of the credentials file; absent where the machine itself has the login. */
const typeOf = ({ jsonContent }: Credentials): string | undefined =>
  jsonContent && 'type' in jsonContent ? jsonContent.type : undefined;

const findAccount = (credentials: Credentials): Promise<string | undefined> =>
  credentials.getCredentials().then(
    ({ client_email: address }) => address,
    () => undefined,
  );

const scopes = ['https://www.googleapis.com/auth/spreadsheets'];
/** What a login needs to act as another one. */
const impersonatingScopes = ['https://www.googleapis.com/auth/cloud-platform'];

async function openCredentials({ agentFor, credentialsFile, timeoutMs }: LoginOptions): Promise<Credentials> {
  // A redirect would carry the login elsewhere.
  const transporterOptions = {
    timeout: timeoutMs,
    redirect: 'manual' as const,
    ...(agentFor && { agent: agentFor }),
  };
  const clientOptions = { transporterOptions };
  const credentials = new auth.GoogleAuth({ scopes, clientOptions });
  if (credentialsFile !== undefined) {
    checkCredentials(credentialsFile);
    // As the library takes the file that its own variable names. Given as `keyFile`, it warns on the console of files that strangers gave.
    await credentials._getApplicationCredentialsFromFilePath(credentialsFile, clientOptions);
  }
  const client = await credentials.getClient();
  // The library leaves the options out for what a client asks on its way to a token.
  for (const { defaults } of transportersOf(client)) Object.assign(defaults, transporterOptions);
  const source: unknown = Object(client).sourceClient;
  if (isObject(source) && 'scopes' in source) source.scopes = impersonatingScopes;
  return credentials;
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;

/** The transporters of a client and of those it asks first. */
function transportersOf(client: object): { readonly defaults: object }[] {
  return Object.entries(client).flatMap(([name, part]: [string, unknown]) => {
    if (!isObject(part)) return [];
    if (name === 'transporter' && 'defaults' in part && isObject(part.defaults))
      return [{ defaults: part.defaults }];
    return 'transporter' in part ? transportersOf(part) : [];
  });
}
