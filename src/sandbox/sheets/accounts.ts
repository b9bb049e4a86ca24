/** The account whose requests come over Google's API: an editor of the spreadsheet, not its owner. */
export const ROBOT = 'sandbox@sandbox.iam.gserviceaccount.com';

/** The person at the grid page, who owns the spreadsheet and cannot be locked out of anything. */
export const OWNER = 'owner@example.com';
