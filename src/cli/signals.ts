import { performance } from 'node:perf_hooks';
import process from 'node:process';

/** What comes so soon after the first is the same wish: npm passes on what a terminal or systemd sends to both of them. */
const sameWishMs = 1_000;

/** Resolves at the first SIGTERM or SIGINT. A later one ends the process at once, for people who can not wait. */
export function stopRequested(): Promise<void> {
  return new Promise((resolve) => {
    let since: number | undefined;
    const stop = (signal: NodeJS.Signals) => {
      since ??= performance.now();
      if (performance.now() - since > sameWishMs) process.exit(signal === 'SIGINT' ? 130 : 143);
      resolve();
    };
    process.on('SIGTERM', stop);
    process.on('SIGINT', stop);
  });
}
