import { expect, test } from 'vitest';
import { loadHttpSettings, loadSettings } from '../../src/app/config.ts';
import { key, mistakes, needed, writeConfig, writeFile } from '../support/config-files.ts';
import { defaultBrakes } from '../support/policy.ts';

test('the needed settings alone are enough, and everything else has its default', () => {
  const settings = loadSettings(needed);
  expect(settings.crm.budget).toEqual({ requests: 100, windowMs: 60_000 });
  expect(settings.sheet).toMatchObject({
    pollMs: 5_000,
    vanishedRows: 'ask',
    brakes: defaultBrakes,
  });
  expect(settings.http).toEqual({
    host: '127.0.0.1',
    hostNames: [],
    port: 8080,
    readWithToken: false,
    controlTokens: [],
    trustedProxies: [],
  });
});

test('the environment wins over the file', () => {
  const file = writeConfig('http:\n  port: 1\n  host: 127.0.0.2\n');
  expect(loadSettings({ ...needed, ...file, HTTP_PORT: '9000' }).http).toEqual({
    host: '127.0.0.2',
    hostNames: [],
    port: 9000,
    readWithToken: false,
    controlTokens: [],
    trustedProxies: [],
  });
});

test('an empty variable counts as not set, because compose files pass unset ones on like that', () => {
  expect(loadSettings({ ...needed, HTTP_PORT: '', REDIS_URL: '' })).toMatchObject({
    http: { port: 8080 },
    queue: {},
  });
});

test('a secret comes from a file, without the line break at its end', () => {
  const { CRM_API_KEY: _key, ...rest } = needed;
  expect(loadSettings({ ...rest, CRM_API_KEY_FILE: writeFile('key', `${key}\n`) }).crm.apiKey).toBe(key);
});

test('the configuration can name the files of the key and of the token, and the environment wins over them', () => {
  const { CRM_API_KEY: _key, ...rest } = needed;
  const keyFile = writeFile('key', `${key}\n`);
  const tokenFile = writeFile('token', 'sixteen-letters-long\n');
  const file = writeConfig(`crm:\n  apiKeyFile: ${keyFile}\nhttp:\n  controlTokenFile: ${tokenFile}\n`);
  const settings = loadSettings({ ...rest, ...file });
  expect([settings.crm.apiKey, settings.http.controlToken]).toEqual([key, 'sixteen-letters-long']);
  const other = `svc_live_${'3d'.repeat(32)}`;
  expect(loadSettings({ ...rest, ...file, CRM_API_KEY: other }).crm.apiKey).toBe(other);
  const lost = writeConfig('crm:\n  apiKeyFile: /nowhere/key\n');
  expect(mistakes({ ...rest, ...lost })).toEqual([
    'crm.apiKeyFile: the file /nowhere/key can not be read; it must be there, and readable for the user that runs this',
  ]);
  const twice = writeConfig(`crm:\n  apiKey: ${other}\n  apiKeyFile: ${keyFile}\n`);
  expect(mistakes({ ...rest, ...twice })).toEqual([
    'crm.apiKey: set either crm.apiKey or crm.apiKeyFile, not both',
  ]);
});

test('a command finds the daemon by the file, whatever the other settings are', () => {
  const file = writeConfig('crm:\n  sweepMs: soon\nhttp:\n  port: 9090\n  host: "::1"\n');
  expect(loadHttpSettings(file)).toMatchObject({ host: '::1', port: 9090 });
  expect(loadHttpSettings({ ...file, HTTP_PORT: '9091' })).toMatchObject({ port: 9091 });
});

test('further keys come in one variable or one file, separated by commas or line breaks', () => {
  const [second, third] = [`svc_live_${'1b'.repeat(32)}`, `svc_live_${'2c'.repeat(32)}`];
  expect(loadSettings(needed).crm.apiKeys).toEqual([]);
  expect(loadSettings({ ...needed, CRM_API_KEYS: `${second},${third}` }).crm.apiKeys).toEqual([
    second,
    third,
  ]);
  const file = writeFile('keys', `${second}\n${third}\n`);
  expect(loadSettings({ ...needed, CRM_API_KEYS_FILE: file }).crm.apiKeys).toEqual([second, third]);
});

test('a wrong key among further ones is refused by its place and never repeated', () => {
  const found = mistakes({ ...needed, CRM_API_KEYS: `${key},svc_live_hunter2` });
  expect(found).toEqual([
    'crm.apiKeys.1 (CRM_API_KEYS): must be svc_live_ followed by 64 hexadecimal characters',
  ]);
});

test('a secret that is given twice is refused', () => {
  expect(mistakes({ ...needed, CRM_API_KEY_FILE: writeFile('key', key) })).toEqual([
    'CRM_API_KEY: set either CRM_API_KEY or CRM_API_KEY_FILE, not both',
  ]);
});

test('every missing setting is named with its variable', () => {
  const found = mistakes({});
  expect(found).toHaveLength(3);
  for (const name of ['CRM_BASE_URL', 'CRM_API_KEY', 'GOOGLE_SPREADSHEET_ID']) {
    expect(found.some((line) => line.includes(`(${name}): is missing`))).toBe(true);
  }
  expect(found.join()).toContain('or a database in warehouse.url (WAREHOUSE_URL), or both');
});

test('an empty variable names no configuration file either', () => {
  expect(loadSettings({ ...needed, CRM_SYNC_CONFIG: '' }).sheet?.spreadsheetId).toBe('abc');
  expect(loadHttpSettings({ CRM_SYNC_CONFIG: '' }).port).toBe(8080);
});

test.each(['https://docs.google.com/spreadsheets/d/1AbC-d_E/edit#gid=0', '"1AbC-d_E"', ''])(
  'what is not the id of a spreadsheet is refused, with where the id stands: %s',
  (spreadsheetId) => {
    const file = writeConfig(`sheet:\n  spreadsheetId: ${JSON.stringify(spreadsheetId)}\n`);
    const { GOOGLE_SPREADSHEET_ID: _id, ...rest } = needed;
    expect(mistakes({ ...rest, ...file })[0]).toContain(
      'sheet.spreadsheetId (GOOGLE_SPREADSHEET_ID): must be the id',
    );
  },
);

test('blanks around the id of a spreadsheet, as a line break of Windows at its end, are not part of it', () => {
  expect(loadSettings({ ...needed, GOOGLE_SPREADSHEET_ID: ' 1AbC-d_E\r' }).sheet?.spreadsheetId).toBe(
    '1AbC-d_E',
  );
});

test('a mistake says its path, what was found and what is allowed', () => {
  const file = writeConfig('sheet:\n  vanishedRows: maybe\n  pollMs: soon\n  colour: red\n');
  const found = mistakes({ ...needed, ...file, HTTP_PORT: 'eighty' }).join('\n');
  expect(found).toContain('sheet.vanishedRows: must be one of ask, trash, restore; found "maybe"');
  expect(found).toContain('sheet.pollMs: must be a number; found "soon"');
  expect(found).toContain('sheet: there is no setting colour here');
  expect(found).toContain('http.port (HTTP_PORT): must be a number; found "eighty"');
});

test('a wrong secret is never repeated', () => {
  const found = mistakes({ ...needed, CRM_API_KEY: 'svc_live_hunter2', CONTROL_TOKEN: 'short' }).join('\n');
  expect(found).toContain('crm.apiKey (CRM_API_KEY): must be svc_live_');
  expect(found).toContain('at least 16 characters');
  expect(found).not.toContain('hunter2');
  expect(found).not.toContain('"short"');
});

const token = 'a-token-for-commands';

test.each([
  ['stands beside a setting that does not exist', 'crm: { colour: red }\nhttp: { colour: red }', {}],
  ['stands where a section should be', `crm: ${key}\nhttp: ${token}`, {}],
  ['stands under another name', `crm: { key: ${key} }\nhttp: { token: ${token} }`, {}],
  ['was given for something else', '', { CRM_BASE_URL: key, LOG_LEVEL: key }],
])('S16: a secret is not repeated that %s', (_, content, variables) => {
  const environment = { ...needed, CONTROL_TOKEN: token, ...writeConfig(content), ...variables };
  const found = mistakes(environment).join('\n');
  expect(found).not.toBe('');
  expect(found).not.toContain(key);
  expect(found).not.toContain(token);
});

test.each([
  'redis://:pass/word@redis:6379',
  'redis://:pass#word@redis:6379',
  'redis://:50%off@redis:6379',
  'redis://redis:port',
])(
  'an address of Redis that can not be read, as with a sign in the password, is refused and not repeated: %s',
  (url) => {
    expect(mistakes({ ...needed, REDIS_URL: url })).toEqual([
      'queue.redisUrl (REDIS_URL): must be an address such as redis://:password@host:6379; signs like /, # and % in the password are written as %2F, %23 and %25',
    ]);
    expect(mistakes({ ...needed, REDIS_URL: 'redis://:pass%2Fwo%25rd@redis:6379/2' })).toEqual([]);
  },
);

test('a password goes to no other machine in clear text, but to neighbours in the network of containers', () => {
  const warehouse = (url: string, tls: string) => ({
    ...needed,
    WAREHOUSE_URL: url,
    ...writeConfig(`warehouse:\n  tls: ${tls}\n`),
  });
  for (const redis of [
    'redis://:word@redis:6379',
    'redis://redis.example:6379',
    'rediss://:word@redis.example',
    'redis://:word@127.0.0.1',
  ])
    expect(mistakes({ ...needed, REDIS_URL: redis })).toEqual([]);
  for (const redis of ['redis://:word@redis.example:6379', 'redis://me:word@10.0.0.5'])
    expect(mistakes({ ...needed, REDIS_URL: redis })).toEqual([
      'queue.redisUrl (REDIS_URL): the password would go to another machine in clear text; use rediss://',
    ]);
  expect(mistakes(warehouse('postgres://me:word@db.example/crm', 'encrypt'))).toEqual([]);
  expect(mistakes(warehouse('postgres://me:word@postgres/crm', 'off'))).toEqual([]);
  expect(mistakes(warehouse('postgres://me:word@db.example/crm', 'off'))).toEqual([
    'warehouse.tls: the password, and all data, would go to another machine in clear text; use verify, or encrypt',
  ]);
});

test('an address for alerts whose password can not be read is refused and not repeated', () => {
  expect(mistakes({ ...needed, ALERT_WEBHOOK_URL: 'https://me:50%off@alerts.example/' })).toEqual([
    'alerts.webhookUrl (ALERT_WEBHOOK_URL): a sign % in the name or the password must be written as %25',
  ]);
  expect(mistakes({ ...needed, ALERT_WEBHOOK_URL: 'https://me:50%25off@alerts.example/' })).toEqual([]);
  expect(mistakes({ ...needed, ALERT_WEBHOOK_URL: 'alerts' })).toHaveLength(1);
});

test('a token that no request can carry is refused', () => {
  for (const token of ['sixteen letters 🔑', 'two lines of it\nare too many']) {
    expect(mistakes({ ...needed, CONTROL_TOKEN: token })).toEqual([
      'http.controlToken (CONTROL_TOKEN): must be of one line of letters, digits and signs',
    ]);
  }
  for (const token of ['sixteen-letters-long', 'four words in it', 'Schlüssel für Befehle'])
    expect(mistakes({ ...needed, CONTROL_TOKEN: token })).toEqual([]);
});

test.each(['0.0.0.0', '::', '10.0.0.1', 'fe80::1', 'sync.example', '::ffff:10.0.0.1'])(
  'a daemon that other machines reach, at %s, is refused without a token',
  (host) => {
    expect(mistakes({ ...needed, HTTP_HOST: host })).toEqual([
      `http.host (HTTP_HOST): other machines reach the daemon at ${host}, so it needs a token, http.controlToken (CONTROL_TOKEN, CONTROL_TOKEN_FILE)`,
    ]);
    expect(mistakes({ ...needed, HTTP_HOST: host, CONTROL_TOKEN: token })).toEqual([]);
  },
);

test.each(['127.0.0.1', '127.8.9.1', '::1', '0:0:0:0:0:0:0:1', '::ffff:127.0.0.1', 'localhost'])(
  'a daemon that this machine alone reaches, at %s, needs no token',
  (host) => expect(mistakes({ ...needed, HTTP_HOST: host })).toEqual([]),
);

test('plain http is for this machine alone, where it has to be said too', () => {
  for (const address of ['http://crm.example/api', 'localhost:4010/api']) {
    expect(mistakes({ ...needed, CRM_BASE_URL: address })).toEqual([
      'crm.baseUrl (CRM_BASE_URL): must begin with https://, or with http:// where it is on this machine',
    ]);
  }
  expect(mistakes({ ...needed, CRM_BASE_URL: 'http://127.0.0.1:4010/api' })).toEqual([]);
});

test('S16: an address of the CRM has neither a login nor a question in it, and what stands there is not repeated', () => {
  for (const address of ['https://me:hunter2@crm.example/api', 'https://crm.example/api?token=hunter2']) {
    expect(mistakes({ ...needed, CRM_BASE_URL: address })).toEqual([
      'crm.baseUrl (CRM_BASE_URL): must end with its path, and have no login in it: the key alone logs in',
    ]);
  }
});

test('a name of the host that no browser could ask for is refused', () => {
  const named = (name: string) =>
    mistakes({ ...needed, ...writeConfig(`http: { hostNames: [${JSON.stringify(name)}] }`) });
  for (const name of [
    'https://sync.example.com',
    'sync.example.com/leads',
    'me@sync.example.com',
    'sync example',
  ]) {
    expect(named(name)).toEqual([
      'http.hostNames.0: must be a name such as sync.example.com, with nothing before or behind it',
    ]);
  }
  for (const name of ['sync.example.com', 'Sync.Example.com:8443', 'büro', '[::1]'])
    expect(named(name)).toEqual([]);
});

test('broken YAML is refused with the place', () => {
  expect(() => loadSettings({ ...needed, ...writeConfig('crm:\n  - a\n b: [') })).toThrow(
    /config\.yaml is not valid YAML: .* line 3/s,
  );
});

test.each([
  ['a value with an open quote', 'http:\n  controlToken: "hunter2\n'],
  ['a value that reads as an alias', 'http:\n  controlToken: *hunter2\n'],
  ['a value that reads as a tag', 'http:\n  controlToken: !hunter2<> x: y: z\n'],
  ['a secret beside the mistake', 'http:\n  controlToken: hunter2\n   port: 1\n'],
])('S16: a file that is no YAML is refused without quoting it: %s', (_, text) => {
  const environment = { ...needed, ...writeConfig(text) };
  expect(() => loadSettings(environment)).toThrow(/config\.yaml is not valid YAML/);
  expect(() => loadSettings(environment)).not.toThrow(/hunter2/);
});

test('a named file that is not there is refused, an unnamed one is not needed', () => {
  expect(() => loadSettings({ ...needed, CRM_SYNC_CONFIG: '/nowhere/none.yaml' })).toThrow(
    /none\.yaml can not be read/,
  );
});
