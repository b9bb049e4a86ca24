import { lookAtRedis, type RedisLook } from '../../bullmq/probe.ts';
import { bad, doubtful, type Examination, type Finding, good, skipped } from './check.ts';

/** The oldest version that BullMQ recommends: https://docs.bullmq.io/guide/introduction */
const oldestVersion = [6, 2] as const;

/** An examination of the Redis that the settings name. */
const ofRedis = (
  name: string,
  judge: (look: RedisLook) => Finding,
  needs?: readonly string[],
): Examination => ({
  name,
  ...(needs ? { needs } : {}),
  async examine({ settings }) {
    const { redisUrl } = settings.queue;
    if (redisUrl === undefined) return skipped('REDIS_URL is not set: the queue runs in process.');
    return judge(await lookAtRedis(redisUrl));
  },
});

const redis = ofRedis('Redis', ({ isReadOnly, place, version }) => {
  const found = `version ${version} at ${place}`;
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const isOld = major < oldestVersion[0] || (major === oldestVersion[0] && minor < oldestVersion[1]);
  if (isReadOnly)
    return bad(
      `${found}, a replica that lets nobody write`,
      'Let REDIS_URL name the master that it follows.',
    );
  return isOld ? bad(found, `BullMQ wants ${oldestVersion.join('.')} or newer.`) : good(found);
});

const memory = ofRedis(
  'Redis memory',
  ({ evictionPolicy }) => {
    const found = `maxmemory-policy is ${evictionPolicy}`;
    if (evictionPolicy === 'noeviction') return good(found);
    return doubtful(found, 'Set maxmemory-policy noeviction: BullMQ stalls when its keys are evicted.');
  },
  [redis.name],
);

const persistence = ofRedis(
  'Redis persistence',
  ({ isAppendOnly }) => {
    if (isAppendOnly) return good('appendonly is on');
    const advice =
      'Nothing is lost without it: after a restart of Redis jobs are added again from the mirror.';
    return doubtful('appendonly is off', advice);
  },
  [redis.name],
);

/** Everything about the queue. */
export const queueExaminations: readonly Examination[] = [redis, memory, persistence];
