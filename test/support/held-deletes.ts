import type { Crm } from '../../src/core/ports.ts';
import type { RecordKey } from '../../src/core/record.ts';
import type { SheetLink } from '../../src/sheet/link.ts';
import { pushRecord } from '../../src/sync/pushing/push.ts';

/** Pushes a delete whose turn does not come before it is let go. */
export function pushHeldUp(link: SheetLink, key: RecordKey) {
  const turn = Promise.withResolvers<void>();
  const crm: Pick<Crm, 'deleteRecord' | 'getRecord'> = {
    getRecord: (asked, lane) => link.crm.getRecord(asked, lane),
    async deleteRecord(asked, sending) {
      await turn.promise;
      return link.crm.deleteRecord(asked, sending);
    },
  };
  const pushed = pushRecord({ ...link, crm: crm as Crm }, key);
  return {
    letGo: () => {
      turn.resolve();
      return pushed;
    },
  };
}
