import type { Catalog } from '../core/catalog.ts';
import type { Mirror } from '../core/mirror.ts';
import type { Connection } from './connection.ts';
import { readCatalogJson } from './stored-json.ts';

type Facts = Pick<Mirror, 'readFact' | 'saveFact' | 'readCatalog' | 'saveCatalog'>;

/** What there is one of: named facts, and the catalog. */
export function openFacts(connection: Connection): Facts {
  const read = connection.prepare<{ content: string }>('SELECT content FROM fact WHERE name = ?');
  const save = connection.prepare('INSERT OR REPLACE INTO fact (name, content) VALUES (?, ?)');
  const readLast = connection.prepare<{ content: string }>('SELECT content FROM catalog');
  const saveLast = connection.prepare('INSERT OR REPLACE INTO catalog (id, content) VALUES (1, ?)');
  /** The catalog as it was read last, with its text: equal texts, the same object. */
  let kept: { readonly content: string; readonly catalog: Catalog } | undefined;
  return {
    readFact: (name) => read.get(name)?.content,
    saveFact: (name, text) => void save.run(name, text),
    readCatalog() {
      const content = readLast.get()?.content;
      if (content !== kept?.content)
        kept = content === undefined ? undefined : { content, catalog: readCatalogJson(content) };
      return kept?.catalog;
    },
    saveCatalog: (catalog) => void saveLast.run(JSON.stringify(catalog)),
  };
}
