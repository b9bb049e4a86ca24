/** Reads and writes each have a bucket; a batch of any size is one request. */
export type RequestType = 'read' | 'write';

export interface QuotaLimits {
  readsPerMinute: number;
  writesPerMinute: number;
  /** The length of Google's minute, shorter in tests. */
  windowMs: number;
}

export const GOOGLE_QUOTA: QuotaLimits = { readsPerMinute: 60, writesPerMinute: 60, windowMs: 60_000 };

interface Bucket {
  limit: number;
  /** When requests arrived that are still inside the window, refused ones too. */
  arrivedAtMs: number[];
  admittedAtMs: number[];
  total: number;
  refused: number;
  largestInWindow: number;
}

/**
 * Google counts for each user, or for each name that a request gives as `quotaUser`. Here every spreadsheet has a user of its own, so that
 * experiments on another one take nothing away from the daemon.
 */
export interface Quota {
  limits: QuotaLimits;
  /** By `quotaUser`, or else by the id of the spreadsheet. */
  buckets: Map<string, Record<RequestType, Bucket>>;
}

export type Usage = Record<RequestType, { total: number; refused: number; largestInWindow: number }>;

export const createQuota = (limits: QuotaLimits): Quota => ({ limits, buckets: new Map() });

function bucketsOf({ limits, buckets }: Quota, user: string): Record<RequestType, Bucket> {
  const known = buckets.get(user);
  if (known) return known;
  const bucket = (limit: number): Bucket => ({
    limit,
    arrivedAtMs: [],
    admittedAtMs: [],
    total: 0,
    refused: 0,
    largestInWindow: 0,
  });
  const own = { read: bucket(limits.readsPerMinute), write: bucket(limits.writesPerMinute) };
  buckets.set(user, own);
  return own;
}

/** Counts a request and says whether it may go on; the window rolls, which is never laxer than Google's. */
export function admitRequest(quota: Quota, user: string, type: RequestType, nowMs: number): boolean {
  const bucket = bucketsOf(quota, user)[type];
  const isInWindow = (timeMs: number) => timeMs > nowMs - quota.limits.windowMs;
  bucket.arrivedAtMs = [...bucket.arrivedAtMs.filter(isInWindow), nowMs];
  bucket.admittedAtMs = bucket.admittedAtMs.filter(isInWindow);
  bucket.total += 1;
  bucket.largestInWindow = Math.max(bucket.largestInWindow, bucket.arrivedAtMs.length);
  const isAdmitted = bucket.admittedAtMs.length < bucket.limit;
  if (isAdmitted) bucket.admittedAtMs.push(nowMs);
  else bucket.refused += 1;
  return isAdmitted;
}

/** The requests of all users together, and the most that one made within a window. */
export function usageOf({ buckets }: Quota): Usage {
  const sum = (type: RequestType) => {
    const own = [...buckets.values()].map((each) => each[type]);
    return {
      total: own.reduce((all, { total }) => all + total, 0),
      refused: own.reduce((all, { refused }) => all + refused, 0),
      largestInWindow: Math.max(0, ...own.map(({ largestInWindow }) => largestInWindow)),
    };
  };
  return { read: sum('read'), write: sum('write') };
}
