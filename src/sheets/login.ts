// The path matters: the whole package costs a second and 110 MB at start.
import { auth } from 'googleapis/build/src/apis/sheets/index.js';
import { isSyncError } from '../core/errors.ts';
import { loginError } from './errors.ts';

type Credentials = InstanceType<typeof auth.JWT> | InstanceType<typeof auth.GoogleAuth>;

interface LoginOptions {
  /** Key file of a service account; without it, application default credentials are used. */
  readonly credentialsFile?: string;
  readonly timeoutMs: number;
}

/** How the requests of a client get their token. */
export interface Login {
  /** What the library signs requests with, with a token that is good. Fails with SHEET_UNAUTHORIZED or SHEET_UNREACHABLE. */
  logIn(): Promise<Credentials>;
  /**
   * Takes note of what became of a request: where a login is refused, or may not do it, the next one begins anew, with the key as it stands
   * in its file then.
   */
  note(error: unknown): void;
  /** Address with which a spreadsheet must be shared, where the login has one. */
  findAccount(): Promise<string | undefined>;
}

export function createLogin(options: LoginOptions): Login {
  let credentials = createCredentials(options);
  const note = (error: unknown) => {
    if (isSyncError(error, 'SHEET_UNAUTHORIZED', 'SHEET_FORBIDDEN', 'SHEET_NOT_FOUND'))
      credentials = createCredentials(options);
  };
  return {
    note,
    async logIn() {
      const current = credentials;
      try {
        await current.getAccessToken();
        return current;
      } catch (error) {
        const failure = loginError(error);
        note(failure);
        throw failure;
      }
    },
    // It is a help in an error message; that it is not known is no error of its own.
    findAccount: () =>
      credentials.getCredentials().then(
        ({ client_email: address }) => address,
        () => undefined,
      ),
  };
}

const scopes = ['https://www.googleapis.com/auth/spreadsheets'];

function createCredentials({ credentialsFile, timeoutMs }: LoginOptions): Credentials {
  // A redirect would carry the signed login elsewhere.
  const transporterOptions = { timeout: timeoutMs, redirect: 'manual' as const };
  return credentialsFile === undefined
    ? new auth.GoogleAuth({ scopes, clientOptions: { transporterOptions } })
    : new auth.JWT({ keyFile: credentialsFile, scopes, transporterOptions });
}
