/** Origins of requests, by their headers. docs/explanation/security.md */
import { hostname } from 'node:os'
import { expect, test } from 'vitest'
import {
  hostIn,
  isLocalAddress,
  isThisMachine,
  machineNames,
} from '../../../src/pmproxy/http/machine-names.ts'
import { checkOrigin, isDeliberate, isLocalPage } from '../../../src/pmproxy/http/origin.ts'

const kindOf = (
  headers: Readonly<Record<string, string>>,
  { method = 'GET', reached = '127.0.0.1', names = [] as string[], origins = [] as string[] } = {},
): string =>
  checkOrigin(
    { method, headers, address: '127.0.0.1', reached, port: 44323, version: '1.1' },
    { names, origins },
  ).kind

test('the host has to be this machine, or a name of the configuration', () => {
  for (const host of [
    'localhost:44323',
    'LOCALHOST',
    'localhost.',
    'x.localhost:1',
    '127.0.0.1:44323',
    '127.8.9.1',
    '[::1]:44323',
    hostname(),
    `${hostname()}:44323`,
    '',
  ])
    expect(kindOf({ host }), host).toBe('own')
  for (const host of [
    'evil.example',
    'evil.example:44323',
    'localhost.evil.example',
    '127.0.0.1.evil.example',
    '127.evil.example',
    'evil.example#localhost',
    'localhost@evil.example',
    '0.0.0.0:44323',
    '192.0.2.7',
    '[::]',
    '[2001:db8::7]:44323',
    '::1x',
    '2130706433',
    '0x7f.1',
    `${hostname()}.evil.example`,
    'a b',
    '<b>',
  ])
    expect(kindOf({ host }), host).toBe('refused')
  expect(kindOf({ host: 'PCP.example.com:443' }, { names: ['pcp.example.com'] })).toBe('own')
  expect(kindOf({ host: 'x.pcp.example.com' }, { names: ['pcp.example.com'] })).toBe('refused')
})

test('the local address of the connection is this machine', () => {
  expect(kindOf({ host: '192.0.2.7:44323' }, { reached: '192.0.2.7' })).toBe('own')
  expect(kindOf({ host: '192.0.2.7:44323' }, { reached: '::ffff:192.0.2.7' })).toBe('own')
  expect(kindOf({ host: '[2001:db8:0::7]:44323' }, { reached: '2001:db8::7' })).toBe('own')
  expect(kindOf({ host: '192.0.2.8:44323' }, { reached: '192.0.2.7' })).toBe('refused')
  expect(isLocalAddress('127.0.0.1', undefined)).toBe(true)
  expect(isLocalAddress('localhost', '127.0.0.1')).toBe(false)
})

test('a refusal only repeats valid host names', () => {
  const why = (host: string): string => {
    const found = checkOrigin(
      {
        method: 'GET',
        headers: { host },
        address: undefined,
        reached: undefined,
        port: undefined,
        version: '1.1',
      },
      { names: [], origins: [] },
    )
    return found.kind === 'refused' ? found.why : ''
  }
  expect(why('evil.example:1')).toContain('names = evil.example in [ui]')
  expect(why('<script>')).toContain('names = NAME in [ui]')
})

test('only names on the same line as our own in the hosts file are ours', () => {
  const file =
    '127.0.0.1 localhost ads.example\n127.0.1.1\tvm.example.com vm # old\n0.0.0.0 tracker.example\n# 127.0.0.1 vm gone.example\n'
  expect([...machineNames('vm', file)].sort()).toEqual(['vm', 'vm.example.com'])
  expect([...machineNames('VM.example.com', '')].sort()).toEqual(['vm', 'vm.example.com'])
  expect(machineNames('', '127.0.0.1 x\n').size).toBe(0)
})

test('a page of another origin is refused unless its origin is configured', () => {
  const host = 'localhost:44323'
  expect(kindOf({ host, origin: 'http://localhost:44323' })).toBe('own')
  expect(kindOf({ host, origin: 'https://localhost:44323', 'sec-fetch-site': 'same-origin' })).toBe('own')
  for (const origin of [
    'http://evil.example',
    'http://localhost',
    'http://localhost:8080',
    'http://127.0.0.1:44323',
    'null',
    '',
    'file://',
    'http://localhost:44323.evil.example',
    'x',
  ])
    expect(kindOf({ host, origin }), origin).toBe('refused')
  const origins = ['http://grafana.example:3000']
  expect(
    kindOf({ host, origin: 'http://GRAFANA.example:3000', 'sec-fetch-site': 'cross-site' }, { origins }),
  ).toBe('shared')
  expect(kindOf({ host, origin: 'http://grafana.example' }, { origins })).toBe('refused')
  expect(kindOf({ host, origin: 'http://any.example' }, { origins: ['*'] })).toBe('shared')
  expect(kindOf({ host: 'evil.example', origin: 'http://any.example' }, { origins: ['*'] })).toBe('refused')
})

test('a request without an origin is classified by other headers of browsers', () => {
  const host = 'localhost:44323'
  for (const site of ['same-origin', 'none'])
    expect(kindOf({ host, 'sec-fetch-site': site }), site).toBe('own')
  for (const site of ['cross-site', 'same-site', 'x'])
    for (const dest of ['image', 'script', 'empty', 'iframe', 'object', ''])
      expect(kindOf({ host, 'sec-fetch-site': site, 'sec-fetch-dest': dest }), `${site} ${dest}`).toBe(
        'refused',
      )
  expect(kindOf({ host, 'sec-fetch-site': 'cross-site' })).toBe('refused')
  expect(kindOf({ host, 'sec-fetch-site': 'cross-site', 'sec-fetch-dest': 'document' })).toBe('link')
  expect(
    kindOf({ host, 'sec-fetch-site': 'cross-site', 'sec-fetch-dest': 'document' }, { method: 'POST' }),
  ).toBe('refused')
  // Browsers send those to trustworthy addresses only; to others they send a referrer by default.
  expect(kindOf({ host, referer: 'http://localhost:44323/ui/' })).toBe('own')
  expect(kindOf({ host, referer: 'http://evil.example/' })).toBe('link')
  expect(kindOf({ host, referer: 'http://evil.example/' }, { method: 'POST' })).toBe('refused')
  expect(kindOf({ host })).toBe('own')
})

test('a modifying request of a browser must prove that it is from our page', () => {
  const browser = { host: '192.0.2.7:44323', 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64)' }
  const own = 'http://192.0.2.7:44323'
  for (const headers of [
    { host: browser.host },
    { host: browser.host, 'user-agent': 'curl/8.5.0' },
    { host: browser.host, 'user-agent': 'Grafana/11.1.0' },
    { ...browser, origin: own },
    { ...browser, 'sec-fetch-site': 'same-origin' },
    { ...browser, 'sec-fetch-site': 'none' },
  ])
    expect(isDeliberate({ headers }), JSON.stringify(headers)).toBe(true)
  for (const headers of [
    browser,
    { ...browser, referer: `${own}/ui/` },
    { ...browser, origin: 'null' },
    { ...browser, origin: 'http://192.0.2.7' },
    { ...browser, 'sec-fetch-site': 'cross-site' },
  ])
    expect(isDeliberate({ headers }), JSON.stringify(headers)).toBe(false)
})

test('a local page uses loopback, names this machine, and was not forwarded', () => {
  const asker = {
    method: 'GET',
    headers: { host: 'localhost:1' },
    address: '127.0.0.1',
    reached: '127.0.0.1',
    port: 1,
    version: '1.1',
  }
  expect(isLocalPage(asker)).toBe(true)
  expect(isLocalPage({ ...asker, address: '::ffff:127.0.0.1' })).toBe(true)
  for (const address of [undefined, '192.0.2.1', '2001:db8::1'])
    expect(isLocalPage({ ...asker, address })).toBe(false)
  for (const more of [
    { host: 'pcp.example.com:1' },
    { host: '' },
    { host: 'localhost' },
    { host: 'localhost:80' },
    { host: 'localhost:' },
    { host: '[::1]' },
    { 'x-forwarded-for': '' },
    { via: 'x' },
    { forwarded: 'for=x' },
  ])
    expect(isLocalPage({ ...asker, headers: { ...asker.headers, ...more } }), JSON.stringify(more)).toBe(
      false,
    )
  expect(isLocalPage({ ...asker, headers: {} })).toBe(false)
  expect(isLocalPage({ ...asker, version: '1.0' })).toBe(false)
  expect(isLocalPage({ ...asker, headers: { host: '[::1]:1' } })).toBe(true)
  expect(isLocalPage({ ...asker, port: 80, headers: { host: 'localhost' } })).toBe(true)
})

test('a host is compared without its port and a final dot', () => {
  expect(hostIn('A.example.:80')).toBe('a.example')
  expect(hostIn('[::1]')).toBe('::1')
  expect(isThisMachine('127.0.0.1')).toBe(true)
  expect(isThisMachine('127.example')).toBe(false)
})
