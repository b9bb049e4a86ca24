import { linkTags, metadataFields, readTags } from '../metadata.ts';
import { part } from './scratch.ts';
import { unknown } from './unknown.ts';

/** Whether a read of ranges by ids of tabs brings what the spreadsheet says of itself, as which write it saw last. */
export const tagsByRange = unknown({
  answers: {
    brought: 'A read of some rows says which write came last.',
    leftOut:
      'A read of some rows does not say which write came last: a tab that is read in parts costs a request more.',
  },
  safest: 'leftOut',
  ask: async (client) =>
    (await client.get(`${metadataFields},sheets.properties.sheetId`, [part(0, 0, 1, 1)])) ?? {},
  read({ developerMetadata = [], sheets = [] }) {
    if (sheets.length === 0) return undefined;
    // A spreadsheet that was laid out has this one.
    return readTags(developerMetadata, linkTags).length > 0 ? 'brought' : 'leftOut';
  },
});
