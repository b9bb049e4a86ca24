import type { z } from 'zod';
import { errorMessages } from '../../crm/contract.ts';

/** A request the CRM does not carry out. Becomes the error envelope with this status and message. */
export class Refusal extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.name = 'Refusal';
    this.status = status;
  }
}

/** 400 naming the field, in the specification's form `<field>: <what is wrong>` ("Errors"). */
export const refuseField = (field: string, problem: string): Refusal =>
  new Refusal(400, `${field}: ${problem}`);

/** One of the errors whose message is always the same words ("Errors"). */
export const refuseWith = (status: keyof typeof errorMessages): Refusal =>
  new Refusal(status, errorMessages[status]);

/**
 * Checks a body or query against a schema of the contract.
 * @throws Refusal 400 that names the first field at fault; a missing one reads `<field>: Required`.
 */
export function checkShape<Schema extends z.ZodType>(schema: Schema, input: unknown): z.output<Schema> {
  const result = schema.safeParse(input, {
    error: (issue) => (issue.input === undefined ? 'Required' : undefined),
  });
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  throw refuseField(issue?.path.join('.') || 'body', issue?.message ?? 'Invalid input');
}

/** @throws Refusal 400 for the first of `fields` that the body does not have. */
export function requireFields(body: Readonly<Record<string, unknown>>, fields: readonly string[]): void {
  const missing = fields.find((field) => body[field] === undefined);
  if (missing !== undefined) throw refuseField(missing, 'Required');
}
