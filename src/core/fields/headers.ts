/** Header of the column that binds a row to its record. */
export const idHeader = 'ID';
/** Header of the column that says in plain words what happened to the row. */
export const syncHeader = 'Sync';
/** What the tag of the column says that pauses rows; people choose its header. No field is called so. */
export const pauseName = '#pause';

/** What to do before a column can be added whose header stands above a column that is not its own, which is named by its letters. */
export const namesakeAdvice = (letters: string): string =>
  `Column ${letters} is called so, but carries something else and is left alone: give it another header`;
