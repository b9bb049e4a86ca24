import { access, constants, statfs } from 'node:fs/promises';
import process from 'node:process';
import { z } from 'zod';
import { isSyncError } from '../../core/errors.ts';
import { strongestToken } from '../../core/network/access.ts';
import { daemonOrigin } from '../config.ts';
import { checkOwner } from '../owner.ts';
import { findProxy } from '../proxies.ts';
import { findNetworkDisk, networkDiskAdvice, privateStateAdvice } from '../state-directory.ts';
import { bad, doubtful, type Examination, type Finding, findingOf, good, skipped } from './check.ts';

const nodeMajorMin = 24;

/** Looks at the Node that runs this. It needs no settings. */
export function examineNode(): Finding {
  const { version } = process;
  if (Number(version.slice(1).split('.')[0]) >= nodeMajorMin) return good(version);
  return bad(version, `Install Node ${nodeMajorMin} or newer.`);
}

const daemonTimeoutMs = 3_000;
const healthShape = z.object({
  status: z.enum(['ok', 'degraded', 'failing']),
  /** Only for those who may read. */
  conditions: z.array(z.object({ words: z.string() })).default([]),
});

const daemon: Examination = {
  name: 'daemon',
  async examine({ settings: { http } }) {
    if (http.port === 0) return skipped('HTTP_PORT is 0: nobody knows where it would listen.');
    const origin = daemonOrigin(http.host, http.port);
    const token = strongestToken(http);
    const response = await fetch(`${origin}/healthz`, {
      headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
      // It would carry the token elsewhere.
      redirect: 'error',
      signal: AbortSignal.timeout(daemonTimeoutMs),
    }).catch(() => undefined);
    if (!response) return good(`none answers at ${origin}`);
    const health = healthShape.safeParse(await response.json().catch(() => undefined)).data;
    if (!health)
      return bad(
        `Something else answers at ${origin}.`,
        'Set HTTP_PORT to a port that is free for the daemon.',
      );
    if (health.status === 'ok') return good(`runs at ${origin}`);
    const words = health.conditions.map((condition) => condition.words).join(' ');
    return doubtful(
      `runs at ${origin} and ${words === '' ? `is ${health.status}` : `says: ${words}`}`,
      'Ask status for more.',
    );
  },
};

const stateDirectory: Examination = {
  name: 'state directory',
  examine({ settings, state }) {
    const { directory } = settings.state;
    if (state.kind === 'open')
      return state.openToOthers.length === 0
        ? good(`${directory} is writable`)
        : doubtful(
            `Other users of this machine can reach ${state.openToOthers.join(', ')}.`,
            privateStateAdvice,
          );
    if (isSyncError(state.problem, 'STATE_LOCKED')) return good(`${directory} is in use by a daemon`);
    return findingOf(state.problem);
  },
};

const mirror: Examination = {
  name: 'mirror',
  needs: [stateDirectory.name],
  examine({ settings, state }) {
    if (state.kind === 'closed') return skipped('It can not be opened beside the daemon.');
    checkOwner(state.mirror, settings);
    const sides = [
      ...(settings.sheet ? ['this spreadsheet'] : []),
      ...(settings.warehouse ? ['this database'] : []),
    ];
    return good(`belongs to this CRM and ${sides.join(' and ')}, or to none yet`);
  },
};

const freeBytesMin = 200 * 1024 * 1024;

const disk: Examination = {
  name: 'disk of the state directory',
  needs: [stateDirectory.name],
  async examine({ settings }) {
    const { bavail, bsize } = await statfs(settings.state.directory);
    const network = findNetworkDisk(settings.state.directory);
    const found = `${Math.floor((bavail * bsize) / 1024 / 1024)} MiB are free`;
    if (network !== undefined)
      return bad(`It is on a network file system (${network}); ${found}`, networkDiskAdvice);
    return bavail * bsize >= freeBytesMin ? good(found) : doubtful(found, 'Free some space.');
  },
};

/** Whether requests go through a proxy, and whose certificates are trusted beside those of Node. */
const wayOut: Examination = {
  name: 'way out',
  async examine({ settings: { alerts, crm, sheet } }) {
    const addresses: readonly (readonly [name: string, url: string])[] = [
      ['the CRM', crm.baseUrl],
      ...(sheet ? ([['Google', sheet.apiRootUrl ?? 'https://sheets.googleapis.com/']] as const) : []),
      ...(alerts.webhookUrl === undefined ? [] : ([['alerts', alerts.webhookUrl]] as const)),
    ];
    const ways = addresses.map(([name, url]) => {
      const proxy = findProxy(new URL(url));
      return `${name} ${proxy ? `through ${proxy.host}` : 'straight'}`;
    });
    const found = ways.join(', ');
    const { NODE_EXTRA_CA_CERTS: authorities } = process.env;
    if (!authorities) return good(found);
    const isReadable = await access(authorities, constants.R_OK).then(
      () => true,
      () => false,
    );
    if (isReadable) return good(`${found}; authorities in ${authorities} are trusted as well`);
    return bad(
      `The authorities in ${authorities} (NODE_EXTRA_CA_CERTS) are not readable, so that they are not trusted.`,
      'Name a file in PEM that this user may read, or take the variable out of the environment.',
    );
  },
};

/** Everything about this machine. */
export const machineExaminations: readonly Examination[] = [daemon, stateDirectory, mirror, disk, wayOut];
