import type { Scope } from './contract.ts';

/** A key of the CRM. */
export interface ApiKey {
  /** Names the secret as it is now, in logs and in the log of slots; tells nothing else about it. */
  readonly name: string;
  readonly secret: string;
  /** Looks whether there is another secret than the one that was `used`, and takes it from then on. Answers whether there is. */
  readonly renew?: (used: string) => boolean;
}

/**
 * A key whose secret can be exchanged while the daemon runs: `reread` answers what stands at its source now. Its name goes with the
 * secret, because the CRM counts requests by it.
 */
export function createApiKey(
  nameOf: (secret: string) => string,
  first: string,
  reread: () => string | undefined,
): ApiKey {
  let secret = first;
  let name = nameOf(first);
  return {
    get name() {
      return name;
    },
    get secret() {
      return secret;
    },
    renew(used) {
      if (secret === used) {
        secret = reread() ?? secret;
        name = nameOf(secret);
      }
      return secret !== used;
    },
  };
}

/** What the secret of each key was at some moment. */
export type Secrets = ReadonlyMap<ApiKey, string>;

/** Keys of one account, each good for what its scopes allow. */
export type KeyPool = ReturnType<typeof createKeyPool>;

/** Stands for whatever a request needs. */
const everything = '';

/** A refused key is left out for so long: seldom enough to cost nothing, and one that is mended comes back by itself. */
const refusedForMs = 900_000;

/** Makes a pool of at least one key; `now` tells the time of a clock that is never set. */
export function createKeyPool(keys: readonly ApiKey[], now: () => number) {
  /** By what they were refused for, when each key was, by its name. */
  const refused = new Map<string, Map<string, number>>();
  const isRefusedFor = ({ name }: ApiKey, purpose: string) =>
    now() - (refused.get(purpose)?.get(name) ?? Number.NEGATIVE_INFINITY) < refusedForMs;
  const isGood = (key: ApiKey, purpose: string) =>
    !isRefusedFor(key, everything) && !isRefusedFor(key, purpose);

  return {
    /** Whether the key may be tried for a request that needs these scopes. */
    allows(key: ApiKey, needs: readonly Scope[]): boolean {
      const purpose = needs.join(' ');
      return isGood(key, purpose) || !keys.some((other) => isGood(other, purpose));
    },
    /**
     * Notes that the CRM refused the key: for these scopes (403), or for whatever it was (401, no scopes). For a quarter of an hour it is not
     * used for that again while another key is left. Returns whether one is; when none is, all of them are tried again the next time. A person
     * may have mended it meanwhile, and with another secret it is another key.
     */
    refuse(key: ApiKey, needs: readonly Scope[] = []): boolean {
      const purpose = needs.join(' ');
      refused.set(purpose, (refused.get(purpose) ?? new Map<string, number>()).set(key.name, now()));
      if (keys.some((other) => isGood(other, purpose))) return true;
      refused.delete(purpose);
      return false;
    },
    /** Whether the key was refused for everything. */
    isRefused: (key: ApiKey) => isRefusedFor(key, everything),
  };
}
