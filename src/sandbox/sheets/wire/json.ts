/** JSON as it travels; an `undefined` member is one that is not sent. */
export type Json = null | boolean | number | string | Json[] | JsonObject;

export interface JsonObject {
  [name: string]: Json | undefined;
}

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Google reads a null member as "not set"; nulls inside lists keep their place. */
export function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (!isJsonObject(value)) return value;
  const kept = Object.entries(value).filter(([, member]) => member !== null && member !== undefined);
  return Object.fromEntries(kept.map(([name, member]) => [name, withoutNulls(member)]));
}

/** proto3 JSON leaves out zero, false and empty text; objects stay, even empty ones. */
export function withoutDefaults(value: JsonObject): JsonObject {
  const isSet = ([, member]: [string, Json | undefined]) =>
    member !== undefined && member !== null && member !== false && member !== 0 && member !== '';
  return Object.fromEntries(Object.entries(value).filter(isSet));
}
