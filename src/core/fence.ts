import { SyncError } from './errors.ts';
import type { Fence } from './ports.ts';

/** A write that has to end sooner is not worth its risk: nobody may learn what became of it. */
const shortestWriteMs = 2_000;

/**
 * How long, in whole ms, a write may take that is sent now: its own `timeoutMs`, or less when the fence is sure for less. Fails with LEASE_ENDED when
 * nothing may be sent.
 */
export function writeTimeMs(timeoutMs: number, fence: Fence | undefined): number {
  const sureMs = fence?.sureMs() ?? timeoutMs;
  if (sureMs < Math.min(timeoutMs, shortestWriteMs))
    throw new SyncError('LEASE_ENDED', 'The write was not sent: the right to run this link has run out.');
  return Math.floor(Math.min(timeoutMs, sureMs));
}
