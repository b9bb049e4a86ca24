import type { Environment } from '../../app/config.ts';
import type { Check } from '../../app/doctor/check.ts';
import { diagnose, type Part } from '../../app/doctor/doctor.ts';
import { type ExitCode, print } from '../command.ts';
import { codeOf, describeChecks } from '../doctor.ts';
import type { Person } from './person.ts';

/** What the guide asks for. */
export interface Question {
  /** The variable that takes the answer. */
  readonly variable: string;
  /** Names of the checks that speak against the answer when they fail. */
  readonly blamedBy: readonly string[];
  /** Answers what was typed; `before` is what did not do. */
  ask(person: Person, answers: Environment, before: string | undefined): Promise<string>;
}

/** Something that is asked for and checked at once. */
export interface Step {
  readonly parts: readonly Part[];
  readonly questions: readonly Question[];
  /** For settings that the checks want and that are asked for later. */
  readonly standIns: Environment;
  /** Names of the checks whose trouble is shown; all where absent. */
  readonly shows?: readonly string[];
  /** Where nobody answers, its answers are not why: it is tried again with them. */
  readonly isRetried?: true;
  /** The check that has to be good before it goes on, and what that means in words. */
  readonly proof: string;
  readonly proven: string;
}

export interface StepOrder {
  readonly environment: Environment;
  /** Answers that are there already, by their variables. */
  readonly told: Environment;
  /** Variables that nothing has. */
  readonly missing: ReadonlySet<string>;
  readonly person: Person | undefined;
}

/**
 * Asks what is not known and checks it with the rest of the step, until the checks are good or nobody is there to mend it. Returns the
 * answers, or the exit code for what stays bad.
 */
export async function takeStep(
  step: Step,
  { environment, missing, person, told }: StepOrder,
): Promise<Environment | ExitCode> {
  const isTold = ({ variable }: Question) => (told[variable] ?? told[`${variable}_FILE`]) !== undefined;
  const open = step.questions.filter((question) => missing.has(question.variable) && !isTold(question));
  let answers = answersTo(step.questions, told);
  const standIns = Object.fromEntries(Object.entries(step.standIns).filter(([name]) => missing.has(name)));
  let unsettled = open.filter(({ variable }) => environment[variable] === undefined);
  for (;;) {
    if (person)
      answers = { ...answers, ...(await askAll(unsettled, person, { ...environment, ...answers })) };
    const { checks, outcome } = await diagnose({ ...standIns, ...environment, ...answers }, step.parts);
    const trouble = checks.filter(
      ({ name, state }) => isTrouble(state) && (step.shows?.includes(name) ?? true),
    );
    if (trouble.length > 0) print(...describeChecks(trouble));
    if (checks.some(({ name, state }) => name === step.proof && (state === 'ok' || state === 'warning'))) {
      print(`✓ ${step.proven}`);
      return answers;
    }
    unsettled = open.filter((question) => isBlamed(question, checks));
    if (person && step.isRetried && outcome === 'unreachable') {
      await person.ask('Enter tries again, Ctrl-C stops: ');
      unsettled = [];
      continue;
    }
    if (!person || unsettled.length === 0) return codeOf[outcome];
  }
}

/** Those of the answers that belong to the questions. */
function answersTo(questions: readonly Question[], told: Environment): Environment {
  const names = questions.flatMap(({ variable }) => [variable, `${variable}_FILE`]);
  return Object.fromEntries(
    Object.entries(told).filter(([name, text]) => names.includes(name) && text !== undefined),
  );
}

async function askAll(
  questions: readonly Question[],
  person: Person,
  before: Environment,
): Promise<Environment> {
  let answers: Environment = {};
  for (const question of questions) {
    const { variable } = question;
    const answer = await question.ask(person, { ...before, ...answers }, before[variable]);
    answers = { ...answers, [variable]: answer || before[variable] };
  }
  return answers;
}

const isTrouble = (state: Check['state']): boolean => state === 'failed' || state === 'warning';

const isBlamed = ({ blamedBy, variable }: Question, checks: readonly Check[]): boolean =>
  checks.some(
    ({ found, name, state }) =>
      state === 'failed' &&
      (blamedBy.includes(name) || (name === 'settings' && found.includes(`(${variable})`))),
  );
