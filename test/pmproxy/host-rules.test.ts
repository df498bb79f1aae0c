/** Which hosts web clients may name. docs/reference/pmproxy.md */
import { hostname } from 'node:os'
import { expect, test } from 'vitest'
import { parseHostSpec } from '../../src/net/host-spec.ts'
import { HostRules } from '../../src/pmproxy/host-rules.ts'

const env = { PMCD_PORT: '44321', PMCD_SOCKET: '/run/x/pmcd.socket' }
const OWN = [
  'localhost',
  'LocalHost',
  '127.0.0.1',
  '[::1]',
  'pcp://127.0.0.1:44321',
  'pcps://localhost',
  'local:',
  'unix:',
  'unix://run/x/pmcd.socket',
  'localhost?container=c',
  hostname(),
]
const OTHERS = [
  'localhost:22',
  'localhost:44321,22',
  '127.0.0.2',
  'db1',
  '10.0.0.1',
  'localhost@db1',
  'unix://run/other',
  'local://etc/passwd',
  'localhost.',
  'x.localhost',
  '169.254.169.254:80',
  '[::ffff:127.0.0.1]:22',
  '0.0.0.0',
  '',
  './x',
  '/etc/passwd',
]

/** Returns the specifications that the rules allow. */
function allowed(
  specs: readonly string[],
  hosts: readonly string[] | undefined,
  isListed = false,
  offeredHosts = hosts ?? ['local:'],
): string[] {
  const rules = new HostRules(env, { hosts, offeredHosts })
  return specs.filter((text) => {
    try {
      rules.check(parseHostSpec(text, env), isListed)
      return true
    } catch (error) {
      expect(error).toMatchObject({ code: 'PM_ERR_PERMISSION' })
      return false
    }
  })
}

test('without a list only the local collector is allowed, by its names, port and socket', () => {
  expect(allowed(OWN, undefined)).toEqual(OWN)
  expect(allowed(OTHERS, undefined)).toEqual([])
})

test('hosts offered on the page are allowed too', () => {
  expect(allowed([...OTHERS, 'local:'], undefined, false, ['local:', 'db1'])).toEqual(['db1', 'local:'])
})

test('a list names hosts with their ports, and must include the local one', () => {
  const hosts = ['db1', 'db2:4000', 'db3?secure', 'pcps://db4', 'db5@gate']
  expect(
    allowed(
      [
        'db1',
        'DB1',
        'db1:44321',
        'pcps://db1',
        'db1?container=c',
        'db2:4000',
        'db3?secure',
        'pcps://db4',
        'db5@gate',
      ],
      hosts,
    ),
  ).toHaveLength(9)
  expect(
    allowed(
      [
        ...OWN,
        ...OTHERS.filter((each) => each !== 'db1'),
        'db1:22',
        'db1:44321,22',
        'db2',
        'db2:4001',
        'db3',
        'db3?container=c',
        'db4',
        'pcp://db4',
        'db5',
        'db1@gate',
        'db1.evil.example',
      ],
      hosts,
    ),
  ).toEqual([])
  expect(allowed(OWN, ['localhost'])).toEqual(OWN)
})

test('a list may allow any host, but no other socket, and not for pages of other origins', () => {
  expect(allowed(['db1', 'localhost:22', 'local:', 'x@y'], ['*'])).toHaveLength(4)
  expect(allowed(['unix://run/other', 'local://etc/passwd'], ['*'])).toEqual([])
  expect(allowed(['db1', 'localhost:22', 'local:', 'db2'], ['*', 'db2'], true)).toEqual(['local:', 'db2'])
})

test('connections are forwarded to the same hosts', () => {
  const rules = new HostRules(env, { hosts: ['db1', 'localhost'], offeredHosts: [] })
  expect(rules.allowsForwarding('localhost', 44321)).toBe(true)
  expect(rules.allowsForwarding('db1', 44321)).toBe(true)
  for (const [host, port] of [
    ['localhost', 22],
    ['db1', 80],
    ['db2', 44321],
  ] as const)
    expect(rules.allowsForwarding(host, port), `${host}:${port}`).toBe(false)
})

test('only a list without the local collector excludes it', () => {
  const isServed = (hosts: readonly string[] | undefined): boolean =>
    new HostRules(env, { hosts, offeredHosts: ['local:'] }).isOwnListed
  expect([undefined, ['*'], ['local:', 'db1'], ['localhost'], ['db1']].map(isServed)).toEqual([
    ...[true, true, true, true],
    false,
  ])
})
