/** What a push did: it wrote to the CRM, it noted something that the next cycle must see, or nothing. */
export type PushResult = 'written' | 'noted' | 'nothing';
