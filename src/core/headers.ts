/** Header of the column that binds a row to its record. */
export const idHeader = 'ID';
/** Header of the column that says in plain words what happened to the row. */
export const syncHeader = 'Sync';
/** What the tag of the column says that pauses rows; people choose its header. No field is called so. */
export const pauseName = '#pause';
