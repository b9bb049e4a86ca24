import { createHash } from 'node:crypto';

/** Names a text without saying it. */
export const shortHash = (text: string): string =>
  createHash('sha256').update(text).digest('hex').slice(0, 16);
