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

export interface Quota {
  windowMs: number;
  read: Bucket;
  write: Bucket;
}

export type Usage = Record<RequestType, { total: number; refused: number; largestInWindow: number }>;

export function createQuota(limits: QuotaLimits): Quota {
  const bucket = (limit: number): Bucket => ({
    limit,
    arrivedAtMs: [],
    admittedAtMs: [],
    total: 0,
    refused: 0,
    largestInWindow: 0,
  });
  return {
    windowMs: limits.windowMs,
    read: bucket(limits.readsPerMinute),
    write: bucket(limits.writesPerMinute),
  };
}

/** Counts a request and says whether it may go on; the window rolls, which is never laxer than Google's. */
export function admitRequest(quota: Quota, type: RequestType, nowMs: number): boolean {
  const bucket = quota[type];
  const isInWindow = (timeMs: number) => timeMs > nowMs - quota.windowMs;
  bucket.arrivedAtMs = [...bucket.arrivedAtMs.filter(isInWindow), nowMs];
  bucket.admittedAtMs = bucket.admittedAtMs.filter(isInWindow);
  bucket.total += 1;
  bucket.largestInWindow = Math.max(bucket.largestInWindow, bucket.arrivedAtMs.length);
  const isAdmitted = bucket.admittedAtMs.length < bucket.limit;
  if (isAdmitted) bucket.admittedAtMs.push(nowMs);
  else bucket.refused += 1;
  return isAdmitted;
}

export function usageOf(quota: Quota): Usage {
  const counts = ({ total, refused, largestInWindow }: Bucket) => ({ total, refused, largestInWindow });
  return { read: counts(quota.read), write: counts(quota.write) };
}
