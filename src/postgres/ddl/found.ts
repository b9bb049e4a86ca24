/** What the database has of the two schemas, as its catalog says. */
export interface Found {
  /** For a script: what is made may be there or not. */
  readonly isUnknown?: true;
  /** Whose login this is. */
  readonly roleName: string;
  readonly mayCreateRole: boolean;
  readonly reader: { readonly isThere: boolean; readonly hasUsage: boolean };
  readonly editor: { readonly isThere: boolean };
  readonly schemas: readonly FoundSchema[];
  readonly functions: readonly FoundFunction[];
  readonly relations: readonly FoundRelation[];
  /** Digests of what was laid out before, by object. */
  readonly laidOut: ReadonlyMap<string, string>;
}

export interface FoundSchema {
  readonly name: string;
  readonly comment: string | null;
  /** Whether this login may comment on it and let others use it. */
  readonly isOwn: boolean;
}

export interface FoundFunction {
  readonly schema: string;
  readonly name: string;
  readonly body: string;
  /** Whether it has the rights of its owner. */
  readonly isDefiner: boolean;
  readonly settings: readonly string[] | null;
}

export interface FoundColumn {
  readonly name: string;
  readonly type: string;
  readonly isNotNull: boolean;
  /** A default, an identity or a generated value: an INSERT may leave it out. */
  readonly hasDefault: boolean;
  readonly comment: string | null;
}

export interface FoundRelation {
  readonly schema: string;
  readonly name: string;
  /** `r` for a plain table, `v` for a view; others are not ours. */
  readonly kind: string;
  readonly owner: string;
  /** Whether this login may alter it. */
  readonly isOwn: boolean;
  /** Whether this login may read and write rows. */
  readonly isWritable: boolean;
  readonly comment: string | null;
  readonly columns: readonly FoundColumn[];
  readonly key: readonly string[] | null;
  /** Whether rows are hidden from this login. */
  readonly hasRowSecurity: boolean;
  readonly inherits: boolean;
  /** Those of ours, by their names. */
  readonly triggers: readonly FoundTrigger[];
  /** Foreign keys that change rows of their own accord. */
  readonly cascades: readonly string[] | null;
}

export interface FoundTrigger {
  readonly name: string;
  readonly enabled: string;
  readonly type: number;
  readonly isPlain: boolean;
  readonly oldTable: string | null;
  readonly newTable: string | null;
  readonly schema: string;
  readonly function: string;
}

/** For a script that has to make everything. */
export const nothingFound = (roleName: string): Found => ({
  isUnknown: true,
  roleName,
  mayCreateRole: true,
  reader: { isThere: false, hasUsage: false },
  editor: { isThere: false },
  schemas: [],
  functions: [],
  relations: [],
  laidOut: new Map(),
});

export const findRelation = (
  found: Found,
  { schema, name }: { readonly schema: string; readonly name: string },
): FoundRelation | undefined =>
  found.relations.find((relation) => relation.schema === schema && relation.name === name);

export const findSchema = (found: Found, schema: string): FoundSchema | undefined =>
  found.schemas.find(({ name }) => name === schema);

/** Whether the name is taken by something that this login cannot alter as a table: it is held, and left alone. */
export const isTaken = (found: Found, table: { readonly schema: string; readonly name: string }): boolean => {
  const relation = findRelation(found, table);
  return relation !== undefined && (relation.kind !== 'r' || !relation.isOwn);
};
