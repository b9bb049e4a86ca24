/** How the two sides stand to each other, the worst that holds. */
export type StandingState = 'failing' | 'filling' | 'asking' | 'working' | 'planned' | 'inStep';

export interface Standing {
  readonly state: StandingState;
  /** Since when it is like this, or since the daemon started; epoch ms. */
  readonly since: number;
}

/** What each standing is called. */
const standingTitles: Readonly<Record<StandingState, string>> = {
  inStep: 'In step',
  asking: 'In step',
  working: 'Bringing both sides together',
  planned: 'Nothing is written until a plan is applied',
  filling: 'Reading everything for the first time',
  failing: 'Something does not work',
};

export const titled = (standing: Standing) => ({ ...standing, title: standingTitles[standing.state] });

/** What decides about the standing. */
export interface StandingFacts {
  /** Things that do not work now. */
  readonly problems: number;
  /** Whether everything was read once and a cycle went through. */
  readonly isFilled: boolean;
  /** Conflicts, holds, brakes and refusals: they go only when a person does something. */
  readonly questions: number;
  /** What is on its way to either side. */
  readonly steps: number;
  /** Whether there is something to write that waits for a plan to be applied. */
  readonly isPlanned: boolean;
}

export function judgeStanding(seen: StandingFacts): StandingState {
  const { isFilled, isPlanned, problems, questions, steps } = seen;
  if (problems > 0) return 'failing';
  if (!isFilled) return 'filling';
  // A plan that waits is told of nowhere else, and while it does the sides are not in step but for what waits for an answer.
  if (questions > 0 && !isPlanned) return 'asking';
  if (steps > 0) return 'working';
  return isPlanned ? 'planned' : 'inStep';
}
