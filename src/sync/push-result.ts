/** What a push did: something that the next cycle must see, or nothing. */
export type PushResult = 'changed' | 'nothing';
