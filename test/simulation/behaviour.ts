import { type Answers, answersBy } from '../../src/google/probes/answers.ts';
import { createRandom } from '../../src/sandbox/crm/random.ts';
import { type Choices, choicesShape } from '../../src/sandbox/sheets/control/choices.ts';

/** How Google behaves in a run where no document says it, and what the daemon knows of it: all, or nothing. */
export interface Behaviour {
  readonly choices: Choices;
  readonly answers: Answers;
}

const seenAs = { skipAndTile: 'shifted', nothing: 'gap', copied: 'copied', refused: 'refused' } as const;

/** From draws of its own, so that all else in a run is as it was. */
export function drawBehaviour(seed: number): Behaviour {
  const random = createRandom(seed ^ 0x60061e);
  const hiddenRowCopy = random.pick(['skipAndTile', 'nothing', 'copied', 'refused'] as const);
  const handHiddenRowCopy = random.pick(['copied', 'asFiltered'] as const);
  const filteredCopies = seenAs[hiddenRowCopy];
  const found = {
    filteredCopies,
    handHiddenCopies: handHiddenRowCopy === 'copied' ? 'copied' : filteredCopies,
  } as const;
  return {
    choices: choicesShape.parse({ hiddenRowCopy, handHiddenRowCopy }),
    answers: answersBy(random.chance(0.5) ? found : {}),
  };
}
