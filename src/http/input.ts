import { z } from 'zod';

/** A request that can not be done as it was sent: the answer's status, and a sentence for who sent it. */
export class RequestRefused extends Error {
  readonly statusCode: number;

  constructor(statusCode: number, sentence: string) {
    super(sentence);
    this.statusCode = statusCode;
  }
}

/** Reads a body or a query. Throws {@link RequestRefused} with one sentence that names what is wrong in it. */
export function readInput<Shape extends z.ZodType>(shape: Shape, input: unknown): z.output<Shape> {
  const { data, error, success } = shape.safeParse(input);
  if (success) return data;
  const problems = error.issues.map(({ message, path }) =>
    path.length > 0 ? `${path.map(String).join('.')}: ${message}` : message,
  );
  throw new RequestRefused(400, `The request is not what this takes: ${problems.join('; ')}.`);
}

/** The body of a command that needs none. */
export const noBody = z.strictObject({}).nullish();
