import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    root: new URL('..', import.meta.url).pathname,
    include: ['test/**/*.test.ts'],
    expect: { poll: { interval: 100, timeout: 15_000 } },
    testTimeout: 30_000,
    hookTimeout: 60_000,
    // Process and browser tests wait for servers and processes of their own more than they compute.
    maxWorkers: 3,
    // A small young generation is collected all the time where an emulated sheet is read again and again.
    execArgv: ['--max-semi-space-size=64'],
    reporters: ['default'],
  },
});
