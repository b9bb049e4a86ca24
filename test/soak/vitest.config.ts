import { defineConfig } from 'vitest/config';

/** A run that lasts as long as SOAK_MINUTES says, apart from the tests. */
export default defineConfig({
  test: {
    root: new URL('../..', import.meta.url).pathname,
    include: ['test/soak/soak.ts'],
    hookTimeout: 600_000,
    reporters: ['verbose'],
    disableConsoleIntercept: true,
  },
});
