import { expect, test } from 'vitest';
import { findProxyFaults, proxyFinder } from '../../src/core/network/proxy.ts';

const through = (environment: Readonly<Record<string, string>>, url: string) =>
  proxyFinder(environment)(new URL(url))?.href;

const given = { HTTPS_PROXY: 'http://proxy.example:3128', HTTP_PROXY: 'other.example:8080' };

test.each([
  [given, 'https://crm.example/api', 'http://proxy.example:3128/'],
  [given, 'http://crm.example/api', 'http://other.example:8080/'],
  [{ https_proxy: 'http://small.example' }, 'https://crm.example/', 'http://small.example/'],
  [{}, 'https://crm.example/', undefined],
  [{ HTTPS_PROXY: '' }, 'https://crm.example/', undefined],
  [{ ...given, NO_PROXY: '*' }, 'https://crm.example/', undefined],
  [{ ...given, NO_PROXY: 'example.org, crm.example' }, 'https://crm.example/', undefined],
  [{ ...given, NO_PROXY: '.example' }, 'https://crm.example/', undefined],
  [{ ...given, NO_PROXY: '*.crm.example' }, 'https://eu.crm.example/', undefined],
  [{ ...given, NO_PROXY: 'm.example' }, 'https://crm.example/', 'http://proxy.example:3128/'],
  [{ ...given, NO_PROXY: 'crm.example:8443' }, 'https://crm.example/', 'http://proxy.example:3128/'],
  [{ ...given, NO_PROXY: 'crm.example:8443' }, 'https://crm.example:8443/', undefined],
  [{ ...given, NO_PROXY: 'CRM.example:443' }, 'https://crm.example/', undefined],
])('%j: %s goes through %s', (environment, url, proxy) => {
  expect(through(environment, url)).toBe(proxy);
});

test.each(['https://localhost:8080/', 'http://127.0.0.1/', 'https://127.8.9.1/', 'http://[::1]:8080/'])(
  '%s is asked straight, whatever the environment says',
  (url) => {
    expect(through(given, url)).toBeUndefined();
  },
);

test.each(['http://proxy:port', 'http://proxy:99999', 'socks5://proxy:1080', 'http://u:100%@proxy'])(
  'an unusable proxy is a mistake in the settings, and is not left out: %s',
  (proxy) => {
    expect(findProxyFaults({ https_proxy: proxy })).toEqual([
      'HTTPS_PROXY: must be an address such as http://proxy.example:3128',
    ]);
    expect(findProxyFaults(given)).toEqual([]);
  },
);
