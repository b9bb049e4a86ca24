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

/** Google's words where an organisation lets nobody make a key. */
export const saysKeysForbidden = (words: string): boolean =>
  /iam\.(?:managed\.)?disableServiceAccountKey|key creation is (?:disabled|not allowed)/i.test(words);
