import type { ColumnLayout, TableLayout } from '../../warehouse/port/layout.ts';
import type { ViewColumn } from './definition.ts';
import { nameList } from './quote.ts';

/** A column of a view; without an expression it is the one of that name of the table `t`. */
export const viewColumn = (name: string, ...expressions: readonly string[]): ViewColumn => ({
  name,
  expressions: expressions.length > 0 ? expressions : [`t.${nameList([name])}`],
});

const ownColumn = ({ name }: ColumnLayout): ViewColumn => viewColumn(name);

export const standardColumns = (table: TableLayout): readonly ViewColumn[] =>
  table.columns.filter(({ isCustom }) => !isCustom).map(ownColumn);

/** They come last in a view, because more may follow. */
export const customColumns = (table: TableLayout): readonly ViewColumn[] =>
  table.columns.filter(({ isCustom }) => isCustom).map(ownColumn);

/** The column of a view, where the table has what it is made of. */
export const columnIf = (
  isThere: boolean,
  name: string,
  ...expressions: readonly string[]
): readonly ViewColumn[] => (isThere ? [viewColumn(name, ...expressions)] : []);
