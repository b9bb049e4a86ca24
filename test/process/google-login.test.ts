import { describe, expect, onTestFinished, test } from 'vitest';
import type { Environment } from '../../src/app/config.ts';
import { type DaemonProcess, spawnCommand, spawnDaemon } from '../support/daemon-process.ts';
import { accountAddress, type GoogleFront, openGoogleFront } from '../support/google-front.ts';
import { openStage, type ProcessStage } from '../support/process-stage.ts';
import { until } from '../support/until.ts';

const limit = { timeout: 120_000 };

/** A daemon that reaches the spreadsheet as it reaches Google's: under real names, and with a login. */
async function openLoginStage(): Promise<{ stage: ProcessStage; google: GoogleFront }> {
  const stage = await openStage({ counts: { leads: 3, opportunities: 0, tasks: 0 } });
  return { stage, google: await openGoogleFront(stage.addresses.sheetsUrl) };
}

function startDaemon({ environment }: ProcessStage, google: GoogleFront, login: Environment): DaemonProcess {
  const { GOOGLE_API_ROOT_URL: _emulator, ...others } = environment;
  const daemon = spawnDaemon({ ...others, ...google.environment, ...login });
  onTestFinished(async () => void (await daemon.kill()));
  return daemon;
}

const personally = 'by a personal login: share the spreadsheet with the address that logged in';

/** Resolves once /healthz is red for a reason in such words. */
async function expectRedHealth({ url }: DaemonProcess, words: RegExp): Promise<void> {
  await until(`/healthz is red with ${words}`, async () => {
    const answer = await fetch(`${url}/healthz`).catch(() => undefined);
    return answer?.status === 503 && words.test(await answer.text());
  });
}

describe('a login at Google', limit, () => {
  test.each<[string, string, (google: GoogleFront) => Environment]>([
    ...(
      [
        ['service_account', `as ${accountAddress}, by the key of a service account`],
        ['authorized_user', personally],
        ['impersonated_service_account', `as ${accountAddress}, by an impersonated service account`],
        ['impersonated_by_key', `as ${accountAddress}, by an impersonated service account`],
        ['external_account', `as ${accountAddress}, by a workload identity federation`],
      ] as const
    ).map(([type, words]): [string, string, (google: GoogleFront) => Environment] => [
      `with a credentials file: ${type}`,
      words,
      (google) => ({ GOOGLE_APPLICATION_CREDENTIALS: google.credentialsFile(type) }),
    ]),
    ['with application default credentials', personally, ({ home }) => ({ CLOUDSDK_CONFIG: home })],
  ])('%s reaches the spreadsheet, and doctor names it: %s', async (_, words, login) => {
    const { stage, google } = await openLoginStage();
    const { GOOGLE_API_ROOT_URL: _emulator, ...others } = stage.environment;
    const environment = { ...others, ...google.environment, ...login(google) };
    const { stderr, stdout } = await spawnCommand(['doctor'], environment).ended;
    expect(/Google login +(.*)/.exec(stdout)?.[1]).toBe(words);
    expect(stdout).toMatch(/^✓ spreadsheet /m);
    // The library complains on the console of what it is given.
    expect(stderr).not.toMatch(/deprecated|validate/);
  });

  test('that may not act as a service account names the role it lacks', async () => {
    const { stage, google } = await openLoginStage();
    google.forbidImpersonation();
    const file = google.credentialsFile('impersonated_service_account');
    const daemon = startDaemon(stage, google, { GOOGLE_APPLICATION_CREDENTIALS: file });
    await expectRedHealth(daemon, /getAccessToken.* Service Account Token Creator/);
  });

  test('of a person that has ended says how to log in again, and that one in “Testing” ends after 7 days', async () => {
    const { stage, google } = await openLoginStage();
    google.refuseTokens({ error: 'invalid_grant', error_description: 'Token has been expired or revoked.' });
    const file = google.credentialsFile('authorized_user');
    const daemon = startDaemon(stage, google, { GOOGLE_APPLICATION_CREDENTIALS: file });
    await expectRedHealth(daemon, /The personal login has ended: .*“Testing” ends after 7 days/);
  });

  test('whose key is revoked turns health red with what to do, and green once there is a key again', async () => {
    const { stage, google } = await openLoginStage();
    const daemon = startDaemon(stage, google, { GOOGLE_APPLICATION_CREDENTIALS: google.keyFile });
    await stage.agreed();
    google.refuseTokens({ error: 'invalid_grant', error_description: 'Invalid JWT Signature.' });
    await expectRedHealth(daemon, /Could not log in to Google: .*Invalid JWT Signature\. .*create a new key/);
    google.refuseTokens();
    await daemon.answers('/healthz');
  });

  test('that fails for the clock of the machine says so', async () => {
    const { stage, google } = await openLoginStage();
    google.refuseTokens({
      error: 'invalid_grant',
      error_description:
        'Invalid JWT: Token must be a short-lived token (60 minutes) and in a reasonable timeframe. Check your iat and exp values in the JWT claim.',
    });
    const daemon = startDaemon(stage, google, { GOOGLE_APPLICATION_CREDENTIALS: google.keyFile });
    await expectRedHealth(daemon, /Set the clock of this machine right\./);
  });

  test.each([
    ['service_account', `The address of the service account is ${accountAddress}.`],
    ['impersonated_service_account', `The address of the service account is ${accountAddress}.`],
    ['authorized_user', 'share the spreadsheet with the address that logged in.'],
  ] as const)('by %s that may not see the spreadsheet says whom to share it with', async (type, words) => {
    const { stage, google } = await openLoginStage();
    google.setShared(false);
    const file = google.credentialsFile(type);
    const daemon = startDaemon(stage, google, { GOOGLE_APPLICATION_CREDENTIALS: file });
    const told = await until('the status tells it', async () => {
      const answer = await fetch(`${daemon.url}/api/status`).catch(() => undefined);
      const status = (await answer?.text()) ?? '';
      return status.includes('SHEET_FORBIDDEN') && status;
    });
    expect(told).toContain(words);
  });

  test('of an account that may not see the spreadsheet is given up for the one whose key takes its place in the file', async () => {
    const { stage, google } = await openLoginStage();
    const other = 'other@project-4711.iam.gserviceaccount.com';
    google.setShared(other);
    const daemon = startDaemon(stage, google, { GOOGLE_APPLICATION_CREDENTIALS: google.keyFile });
    await until('the status tells it', async () => {
      const answer = await fetch(`${daemon.url}/api/status`).catch(() => undefined);
      return (await answer?.text())?.includes(accountAddress);
    });
    google.exchangeKey(other);
    await stage.agreed();
  });
});
