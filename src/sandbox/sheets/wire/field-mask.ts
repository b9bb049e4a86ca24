import { badField, type GoogleError } from './google-error.ts';
import { isJsonObject, type Json, type JsonObject } from './json.ts';

/** A tree of field names; a field without children means all of it, `*` stands for every name. */
export interface FieldMask extends ReadonlyMap<string, FieldMask> {}

type Branch = Map<string, Branch>;

const masksMax = 100;
const masks = new Map<string, FieldMask>();

/** Reads `a.b,c/d,e(f,g)`: `.` and `/` separate levels, brackets group siblings. The same text gives the same mask most of the time. */
export function parseFieldMask(text: string): FieldMask {
  const known = masks.get(text);
  if (known) return known;
  const mask = readFieldMask(text);
  if (masks.size >= masksMax) masks.clear();
  masks.set(text, mask);
  return mask;
}

function readFieldMask(text: string): FieldMask {
  const tokens = text.match(/[^\s.,/()]+|[.,/()]/g) ?? [];
  const root: Branch = new Map();
  let position = 0;

  function readSiblings(parent: Branch): void {
    do readPath(parent);
    while (tokens[position] === ',' && ++position);
  }
  function readPath(parent: Branch): void {
    const name = tokens[position++];
    if (name === undefined || /^[.,/()]$/.test(name)) throw maskError(text);
    const known = parent.get(name);
    // A field named whole stays whole, however often its parts are named besides.
    const isWhole = known?.size === 0;
    const child: Branch = isWhole ? new Map() : (known ?? new Map());
    const next = tokens[position];
    if (next === '.' || next === '/') {
      position += 1;
      readPath(child);
    } else if (next === '(') {
      position += 1;
      readSiblings(child);
      if (tokens[position++] !== ')') throw maskError(text);
    } else child.clear();
    if (!isWhole) parent.set(name, child);
  }

  if (tokens.length > 0) readSiblings(root);
  if (position !== tokens.length) throw maskError(text);
  return root;
}

/** A mask that cannot be read, or names what there is not. */
export function maskError(path: string): GoogleError {
  const description = `Error expanding 'fields' parameter. Cannot find matching fields for path '${path}'.`;
  return badField('Request contains an invalid argument.', path, description);
}

/** The part of the mask under one name; undefined when the mask leaves that name out. */
export function maskOf(mask: FieldMask, ...path: readonly string[]): FieldMask | undefined {
  let current: FieldMask | undefined = mask;
  for (const name of path) {
    if (!current || current.size === 0) return current;
    current = current.get(name) ?? current.get('*');
  }
  return current;
}

/** Keeps what the mask names; a list is masked entry by entry. */
export function selectFields(value: JsonObject, mask: FieldMask): JsonObject {
  if (mask.size === 0) return value;
  const kept: JsonObject = {};
  for (const [name, member] of Object.entries(value)) {
    const child = maskOf(mask, name);
    if (child && member !== undefined) kept[name] = selectMember(member, child);
  }
  return kept;
}

function selectMember(member: Json, mask: FieldMask): Json {
  if (Array.isArray(member)) return member.map((entry) => selectMember(entry, mask));
  return isJsonObject(member) ? selectFields(member, mask) : member;
}

/** Writes the masked fields of `source` over `target`: a field that is masked but unset is cleared. */
export function mergeFields(target: JsonObject, source: JsonObject, mask: FieldMask): JsonObject {
  if (mask.size === 0 || mask.has('*')) return { ...source };
  const merged: JsonObject = { ...target };
  for (const [name, child] of mask) {
    const update = source[name];
    const current = merged[name];
    const value: Json | undefined =
      child.size === 0
        ? update
        : mergeFields(isJsonObject(current) ? current : {}, isJsonObject(update) ? update : {}, child);
    if (value === undefined || (isJsonObject(value) && child.size > 0 && Object.keys(value).length === 0)) {
      delete merged[name];
    } else merged[name] = value;
  }
  return merged;
}
