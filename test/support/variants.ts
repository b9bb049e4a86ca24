import process from 'node:process';

/** Whether all variants of a test run, as in the long tests. */
export const areAllWanted = process.env['VARIANTS'] === 'all';
