import type { Catalog } from '../core/fields/catalog.ts';
import type { Mirror } from '../core/mirror.ts';
import type { Connection } from './connection.ts';
import { openKeyedTable } from './keyed-table.ts';
import { readCatalogJson, readFactJson } from './stored-json.ts';

type Facts = Pick<Mirror, 'readFact' | 'saveFact' | 'dropFact' | 'readCatalog' | 'saveCatalog'>;

interface StoredFact {
  readonly name: string;
  readonly content: string;
}

/** What there is one of: named facts, and the catalog. */
export function openFacts(connection: Connection): Facts {
  const facts = openKeyedTable<StoredFact, StoredFact>(connection, {
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
    readFact(fact) {
      const stored = facts.find(fact.name);
      return stored && readFactJson(fact, stored.content);
    },
    saveFact({ name }, value) {
      const content = JSON.stringify(value);
      if (facts.find(name)?.content !== content) facts.save({ name, content });
    },
    dropFact: ({ name }) => facts.drop(name),
    readCatalog: () => catalogs.find(String(onlyId)),
    saveCatalog: catalogs.save,
  };
}

/** There is one catalog. */
const onlyId = 1;
