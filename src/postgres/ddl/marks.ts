/** Names under which the database remembers what was laid out. */
export const tableMark = (table: string): string => `table ${table}`;
export const columnMark = (table: string, column: string): string => `column ${table}.${column}`;
export const viewMark = (view: string): string => `view ${view}`;
export const grantMark = (relation: string): string => `grant ${relation}`;
export const relationMark = (table: string, column: string): string => `relation ${table}.${column}`;
export const editorMark = (relation: string): string => `editor ${relation}`;
/** What goes with the table of edits. */
export const editMark = 'edits';
/** What notes the edits of a table. */
export const captureMark = (table: string): string => `capture ${table}`;
