import type { Catalog } from '../core/catalog.ts';
import type { Mirror } from '../core/mirror.ts';
import type { Connection } from './connection.ts';
import { openKeyedTable } from './keyed-table.ts';
import { readCatalogJson } from './stored-json.ts';

type Facts = Pick<Mirror, 'readFact' | 'saveFact' | 'readCatalog' | 'saveCatalog'>;

interface Fact {
  readonly name: string;
  readonly content: string;
}

/** What there is one of: named facts, and the catalog. */
export function openFacts(connection: Connection): Facts {
  const facts = openKeyedTable<Fact, Fact>(connection, {
    table: 'fact',
    columns: ['name', 'content'],
    toRow: (fact) => fact,
    fromRow: (row) => row,
  });
  const catalogs = openKeyedTable<{ id: number; content: string }, Catalog>(connection, {
    table: 'catalog',
    columns: ['id', 'content'],
    toRow: (catalog) => ({ id: onlyId, content: JSON.stringify(catalog) }),
    fromRow: ({ content }) => readCatalogJson(content),
  });
  return {
    readFact: (name) => facts.find(name)?.content,
    saveFact: (name, content) => facts.save({ name, content }),
    readCatalog: () => catalogs.find(String(onlyId)),
    saveCatalog: catalogs.save,
  };
}

/** There is one catalog. */
const onlyId = 1;
