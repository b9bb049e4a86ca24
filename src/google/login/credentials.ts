import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { parseJson } from '../../core/text/parse-json.ts';
import { newSheetError } from '../../sheet/port/errors.ts';

/** Kinds of credentials files, as their `type` says, with what each has to have and in words. */
const kinds = {
  service_account: {
    words: 'the key of a service account',
    shape: z.looseObject({ client_email: z.string(), private_key: z.string() }),
  },
  authorized_user: {
    words: 'a personal login',
    shape: z.looseObject({ client_id: z.string(), client_secret: z.string(), refresh_token: z.string() }),
  },
  impersonated_service_account: {
    words: 'an impersonated service account',
    shape: z.looseObject({
      service_account_impersonation_url: z.string().regex(/\/[^/]+:generateAccessToken$/),
      source_credentials: z.looseObject({ type: z.string() }),
    }),
  },
  external_account: {
    words: 'a workload identity federation',
    shape: z.looseObject({
      audience: z.string(),
      subject_token_type: z.string(),
      token_url: z.url(),
      credential_source: z.looseObject({}),
    }),
  },
  external_account_authorized_user: {
    words: 'a login by a workforce identity federation',
    shape: z.looseObject({ refresh_token: z.string(), token_url: z.url() }),
  },
} as const;

type CredentialsKind = keyof typeof kinds;

/** What a kind is called; a machine of Google Cloud has a login of its own without a file. */
export const kindWords = (type: string | undefined): string =>
  isKind(type) ? kinds[type].words : 'the service account of this machine';

const isKind = (type: unknown): type is CredentialsKind =>
  typeof type === 'string' && Object.hasOwn(kinds, type);

/** Fails with SHEET_UNAUTHORIZED and what is wrong with the file, and repeats nothing of it but its type. */
export function checkCredentials(file: string): void {
  const content = typeShape.safeParse(parseJson(readText(file))).data;
  if (!content) throw loginFailure('the credentials file is not JSON as Google writes it.');
  const { type } = content;
  if (!isKind(type)) throw loginFailure(describeStrange(content));
  const [issue] = kinds[type].shape.safeParse(content).error?.issues ?? [];
  if (!issue) return;
  throw loginFailure(
    `the credentials file is ${kinds[type].words} (${type}), but its ${issue.path.join('.')} is missing or is none.`,
  );
}

const typeShape = z.looseObject({ type: z.string().optional() });

const loginFailure = (problem: string) =>
  newSheetError('SHEET_UNAUTHORIZED', `Could not log in to Google: ${problem}`);

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
    throw loginFailure(unreadable.get(code) ?? `the credentials file can not be read: ${code}.`);
  }
}

const unreadable: ReadonlyMap<string, string> = new Map([
  ['ENOENT', 'the credentials file does not exist.'],
  ['EACCES', 'the credentials file may not be read.'],
  ['EISDIR', 'the credentials file is a directory.'],
]);

/** Names a type only if it looks like one: what is in its place may be a secret. */
function describeStrange(content: Readonly<Record<string, unknown>>): string {
  const { type } = content;
  if (content['installed'] !== undefined || content['web'] !== undefined)
    return `the credentials file is an OAuth client, with which a person has yet to log in: ${personalLogin}.`;
  const known = Object.keys(kinds).join(', ');
  return typeof type === 'string' && /^[a-z_]{1,40}$/.test(type)
    ? `the credentials file has the type “${type}”, which is not one of ${known}.`
    : `the credentials file has no type, which would be one of ${known}.`;
}

/** Who logs in, and by what. */
export interface LoginLook {
  /** The kind of the login in words. */
  readonly words: string;
  /** Address with which a spreadsheet must be shared; absent where only the person knows it who logged in. */
  readonly account: string | undefined;
}

/** How a personal login may read spreadsheets: with its scopes, and with an OAuth client of one's own, because Google refuses that of gcloud. */
export const personalLogin =
  'gcloud auth application-default login --client-id-file=CLIENT.json --scopes=https://www.googleapis.com/auth/cloud-platform,https://www.googleapis.com/auth/spreadsheets';

/** How to log in as a service account without a key of it. */
export const withoutKey =
  ' Log in without a key: gcloud auth application-default login --impersonate-service-account=ADDRESS on your own machine, the service account of a machine of Google Cloud, or the file of a workload identity federation elsewhere.';

/** Google's words where an organisation forbids keys. */
export const saysKeysForbidden = (words: string): boolean =>
  /iam\.(?:managed\.)?disableServiceAccountKey|key creation is (?:disabled|not allowed)/i.test(words);
