/** What a token allows, each with all before it: to read everything, to answer questions, to operate the daemon. */
export const scopes = ['read', 'answer', 'operate'] as const;
export type Scope = (typeof scopes)[number];

/** A token, with the name under which the history has its commands. */
export interface NamedToken {
  readonly name: string;
  readonly scope: Scope;
  readonly token: string;
}

/** What the settings say of tokens. */
export interface TokenSettings {
  /** May do everything. */
  readonly controlToken?: string | undefined;
  readonly controlTokens?: readonly NamedToken[];
}

/** The name of the token that has none of its own. */
const controlName = 'control';

export const listTokens = ({ controlToken, controlTokens = [] }: TokenSettings): readonly NamedToken[] => [
  ...(controlToken === undefined
    ? []
    : [{ name: controlName, scope: 'operate' as const, token: controlToken }]),
  ...controlTokens,
];

export const covers = ({ scope }: NamedToken, wanted: Scope): boolean =>
  scopes.indexOf(scope) >= scopes.indexOf(wanted);

/** The token that allows most; `undefined` where there is none. */
export function strongestToken(settings: TokenSettings): string | undefined {
  const tokens = listTokens(settings);
  return tokens.find((token) => tokens.every(({ scope }) => covers(token, scope)))?.token;
}

/** A token in one line: its name, what it may do, and itself. */
const linePattern = new RegExp(`^([a-z0-9][a-z0-9-]*)[ \\t]+(${scopes.join('|')})[ \\t]+(\\S.{14,}\\S)$`);

/** Reads `grafana read 4f2a…`; `undefined` for anything else. */
export function readTokenLine(line: string): NamedToken | undefined {
  const [, name = '', scope = '', token = ''] = linePattern.exec(line.trim()) ?? [];
  const known = scopes.find((each) => each === scope);
  return known && { name, scope: known, token };
}
