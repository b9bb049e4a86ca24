import { emptyCatalog } from '../../core/fields/catalog.ts';
import { customFieldKey, describeEntity } from '../../core/fields/field.ts';
import { idHeader, syncHeader } from '../../core/fields/headers.ts';
import { listTokens } from '../../core/network/access.ts';
import { type Entity, entities } from '../../core/record.ts';
import { labelKey } from '../../core/text/label-key.ts';
import { isLoopback } from '../../http/guard.ts';
import { contactsField, extraFieldNames, recordUrlField } from '../../sheet/cells/extra-fields.ts';
import { findRuleFaults } from '../../sheet/only/rule.ts';
import { standardFieldNames } from '../../sheet/policy.ts';
import {
  allTabs,
  type Settings,
  type SheetSettings,
  sheetEntities,
  tabNames,
  tabSettings,
} from '../settings.ts';
import { isPlaceAlone, isSafeUrl, moreThanPlace, tellsPassword, unsafeUrl } from './urls.ts';
import { type WarehouseSettings, warehouseTls } from './warehouse.ts';

/** Relations between settings that a schema of single values cannot hold. */
export function checkRelations(settings: Settings): string[] {
  const { alerts, crm, http, queue, sheet, warehouse } = settings;
  const urls: readonly [place: string, url: string | undefined, isGood: typeof isSafeUrl, words: string][] = [
    ['crm.baseUrl (CRM_BASE_URL)', crm.baseUrl, isSafeUrl, unsafeUrl],
    ['crm.baseUrl (CRM_BASE_URL)', crm.baseUrl, isPlaceAlone, moreThanPlace],
    ['sheet.apiRootUrl (GOOGLE_API_ROOT_URL)', sheet?.apiRootUrl, isSafeUrl, unsafeUrl],
    ['alerts.webhookUrl (ALERT_WEBHOOK_URL)', alerts.webhookUrl, isSafeUrl, unsafeUrl],
  ];
  const problems = urls.flatMap(([place, url, isGood, words]) =>
    url === undefined || isGood(url) ? [] : [`${place}: ${words}`],
  );
  if (queue.redisUrl?.startsWith('redis:') && tellsPassword(queue.redisUrl))
    problems.push(
      'queue.redisUrl (REDIS_URL): the password would go to another machine in clear text; use rediss://',
    );
  if (warehouse && warehouseTls(warehouse) === 'off' && tellsPassword(warehouse.url))
    problems.push(
      'warehouse.tls: the password, and all data, would go to another machine in clear text; use verify, or encrypt',
    );
  const tokens = listTokens(http);
  if (http.readWithToken && tokens.length === 0)
    problems.push('http.readWithToken: needs a token, http.controlToken (CONTROL_TOKEN)');
  for (const part of ['name', 'token'] as const)
    if (new Set(tokens.map((token) => token[part])).size < tokens.length)
      problems.push(`http.controlTokens (CONTROL_TOKENS): two tokens have the same ${part}`);
  if (!isLoopback(http.host) && tokens.length === 0)
    problems.push(
      `http.host (HTTP_HOST): other machines reach the daemon at ${http.host}, so it needs a token, http.controlToken (CONTROL_TOKEN, CONTROL_TOKEN_FILE)`,
    );
  return [
    ...problems,
    ...(sheet ? checkSheet(sheet, crm.recordUrl) : []),
    ...(warehouse ? entities.flatMap((entity) => checkColumns(entity, warehouse)) : []),
  ];
}

const checkSheet = (sheet: SheetSettings, recordUrl: string | undefined): string[] => [
  ...allTabs(sheet).flatMap(({ entity, tab }) => [
    ...checkFields(entity, tab),
    ...checkExtras(entity, tab, sheet, recordUrl),
    ...checkHeaders(entity, tab),
    ...findRuleFaults(entity, tab.only ?? {}).map((fault) => `sheet.tabs.${tabNames[entity]}.only.${fault}`),
  ]),
  ...checkTitles(sheet),
];

/** A tab is found by its title as {@link labelKey} compares it, so no two may have the same one. */
function checkTitles(sheet: SheetSettings): string[] {
  const { conflicts } = sheet;
  const titles = sheetEntities(sheet).map((entity): [path: string, title: string] => [
    `tabs.${tabNames[entity]}`,
    tabSettings(sheet, entity).title,
  ]);
  if (conflicts.enabled) titles.push(['conflicts', conflicts.title]);
  return [...Map.groupBy(titles, ([, title]) => labelKey(title)).values()].flatMap(([first, ...others]) =>
    others.map(
      ([path, title]) => `sheet.${path}.title: “${title}” is already the title of sheet.${first?.[0]}`,
    ),
  );
}

type TabSettings = ReturnType<typeof allTabs>[number]['tab'];

/** What columns need that show more than the CRM's fields. */
function checkExtras(
  entity: Entity,
  { columns }: TabSettings,
  { tabs }: SheetSettings,
  recordUrl: string | undefined,
): string[] {
  const lacks = (name: string, isThere: boolean, what: string) =>
    columns[name] === undefined || isThere
      ? []
      : [`sheet.tabs.${tabNames[entity]}.columns.${name}: needs ${what}`];
  return [
    ...lacks(recordUrlField, recordUrl !== undefined, 'crm.recordUrl, the form of the addresses'),
    ...lacks(contactsField, tabs.contacts.enabled, 'sheet.tabs.contacts.enabled, which has contacts read'),
  ];
}

const checkFields = (entity: Entity, { columns, order, title }: TabSettings): string[] =>
  findUnknown(entity, [...Object.keys(columns), ...order], extraFieldNames(entity)).map(
    ({ known, name }) => `sheet.tabs: ${title} has no field ${name}; it has ${known}`,
  );

const checkColumns = (entity: Entity, { tables }: WarehouseSettings): string[] =>
  findUnknown(entity, Object.keys(tables[tabNames[entity]].columns)).map(
    ({ known, name }) =>
      `warehouse.tables.${tabNames[entity]}.columns: there is no field ${name}; there are ${known}`,
  );

/** The names that are no fields of the entity, each with those that are, in words. */
function findUnknown(entity: Entity, wanted: readonly string[], extra: readonly string[] = []) {
  const names = [...standardFieldNames(entity), ...extra];
  const isField = (name: string) =>
    names.includes(name) || (entity === 'lead' && customFieldKey(name) !== undefined);
  const known = `${names.join(', ')}${entity === 'lead' ? ' and custom.<key>' : ''}`;
  return [...new Set(wanted)].filter((name) => !isField(name)).map((name) => ({ known, name }));
}

/** A column is found by its header, so no two of a tab may have the same one. */
function checkHeaders(entity: Entity, { columns, pauseColumn }: TabSettings): string[] {
  const taken = new Map([idHeader, syncHeader].map((header) => [labelKey(header), 'the daemon itself']));
  for (const { name, header } of describeEntity(entity, emptyCatalog)) {
    const isShown = columns[name]?.direction !== 'off' && columns[name]?.header === undefined;
    if (isShown) taken.set(labelKey(header), name);
  }
  const claim = (path: string, header: string, name: string): string[] => {
    const owner = taken.get(labelKey(header));
    taken.set(labelKey(header), name);
    if (owner === undefined) return [];
    return [`sheet.tabs.${tabNames[entity]}.${path}: “${header}” is already the header of ${owner}`];
  };
  const ofColumns = Object.entries(columns).flatMap(([name, { direction, header }]) =>
    header === undefined || direction === 'off' ? [] : claim(`columns.${name}.header`, header, name),
  );
  return [...ofColumns, ...(pauseColumn === undefined ? [] : claim('pauseColumn', pauseColumn, 'the pause'))];
}
