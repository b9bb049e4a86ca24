import { escapeIdentifier, escapeLiteral } from 'pg';

/** `"crm"."lead"`, for SQL. */
export const qualified = (schema: string, name: string): string =>
  `${escapeIdentifier(schema)}.${escapeIdentifier(name)}`;

/** The body of a function or of a DO block: in dollars, so that an administrator can read it. */
export const quotedBody = (body: string): string =>
  body.includes('$$') ? escapeLiteral(body) : `$$${body}$$`;

/** A list of names for SQL. */
export const nameList = (names: readonly string[]): string => names.map(escapeIdentifier).join(', ');
