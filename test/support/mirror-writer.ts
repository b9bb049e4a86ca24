import { setImmediate as nextTurn } from 'node:timers/promises';
import { facts } from '../../src/core/facts.ts';
import type { RecordKey } from '../../src/core/record.ts';
import { openMirror } from '../../src/sqlite/open.ts';

/**
 * A process of its own that opens the mirror of a directory and commits numbered pairs of an agreement and a fact for
 * ever, saying each number after its commit. An error of opening it is said by its code.
 */
const [, , directory = ''] = process.argv;

async function write(): Promise<never> {
  const { mirror } = openMirror({ directory });
  for (let number = 1; ; number++) {
    const key: RecordKey = { entity: 'lead', id: String(number) };
    mirror.transaction(() => {
      mirror.saveAgreement({ key, fields: { title: 'kept' }, offered: {}, changedAt: number, notice: '' });
      mirror.saveFact(facts.leaseToken, number);
    });
    process.stdout.write(`${number}\n`);
    await nextTurn();
  }
}

write().catch((error: { code?: string }) => {
  process.stdout.write(`${error.code ?? error}\n`);
  process.exitCode = 1;
});
