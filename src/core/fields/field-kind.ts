/** What a field holds; decides how it is shown and how it is compared. */
export type FieldKind =
  | 'text'
  | 'number'
  | 'integer'
  | 'boolean'
  | 'date'
  | 'instant'
  | 'select'
  | 'multi-select'
  | 'user'
  | 'users'
  | 'lead'
  | 'task'
  | 'stage'
  | 'lead-status'
  | 'task-status'
  | 'task-priority';
