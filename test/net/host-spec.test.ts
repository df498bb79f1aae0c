import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { PcpError } from '../../src/model/errors.ts'
import { formatHostSpec, hostAttr, parseHostSpec, showHostSpec } from '../../src/net/host-spec.ts'

interface Case {
  readonly spec: string
  readonly ok: boolean
  readonly hosts?: readonly { readonly name: string; readonly ports: readonly number[] | string }[]
  readonly attrs?: Readonly<Record<string, string | null | readonly string[]>>
  readonly unparsed?: string
  readonly status?: string
  readonly message?: string | null
}

const path = new URL('../vectors/format/host_spec.json', import.meta.url)
const cases = (JSON.parse(readFileSync(path, 'utf8')) as { cases: readonly Case[] }).cases

/** Attributes as vectors give them: latest first where one is repeated. */
function attrsOf(spec: string): Record<string, unknown> {
  const parsed = parseHostSpec(spec)
  const attrs: Record<string, unknown> = {}
  for (const { name, value } of parsed.attrs) {
    const text = value ?? null
    attrs[name] = name in attrs ? [text, attrs[name]] : text
  }
  if (parsed.scheme === 'unix') attrs['unixsock'] = 'unix'
  else if (parsed.scheme === 'local') attrs['local'] = 'local'
  else if (parsed.scheme !== undefined) attrs['protocol'] = parsed.scheme
  return attrs
}

test('recorded specifications parse to their hosts, ports and attributes, and format back', () => {
  for (const { spec, hosts, attrs, unparsed } of cases.filter((one) => one.ok)) {
    const parsed = parseHostSpec(spec)
    const ports = (given: readonly number[] | string) => (typeof given === 'string' ? [] : given)
    expect(parsed.hosts, spec).toEqual(hosts!.map((host) => ({ ...host, ports: ports(host.ports) })))
    expect(attrsOf(spec), spec).toEqual(attrs)
    expect(formatHostSpec(parsed), spec).toBe(unparsed)
  }
  console.log(`host specifications: ${cases.length} recorded`)
})

test('recorded errors have their code and point at the place', () => {
  for (const { spec, status, message } of cases.filter((one) => !one.ok)) {
    const code = status === '-EINVAL' ? 'EINVAL' : status
    try {
      parseHostSpec(spec)
      expect.fail(`${spec} was accepted`)
    } catch (error) {
      expect(error, spec).toBeInstanceOf(PcpError)
      expect(error, spec).toMatchObject({ code })
      if (message != null) expect((error as PcpError).message, spec).toBe(message)
    }
  }
})

test('the environment gives the default socket, and the last attribute wins', () => {
  expect(parseHostSpec('unix:', { PMCD_SOCKET: '/tmp/s' }).hosts[0]!.name).toBe('/tmp/s')
  expect(parseHostSpec('local:', { PCP_RUN_DIR: '/run/x' }).hosts[0]!.name).toBe('/run/x/pmcd.socket')
  expect(hostAttr(parseHostSpec('h?container=a&container=b'), 'container')).toBe('b')
  expect(hostAttr(parseHostSpec('h?container'), 'container')).toBe('')
  expect(hostAttr(parseHostSpec('h'), 'container')).toBeUndefined()
})

test('names of Object.prototype are not attributes', () => {
  expect(parseHostSpec('h?constructor=1&toString&__proto__=2').attrs).toEqual([])
})

test('passwords are not shown', () => {
  expect(showHostSpec('pcps://h:1@p?user=me&password=se%20cret&container=c')).toBe(
    'pcps://h:1@p?user=me&password=***&container=c',
  )
  expect(showHostSpec('h?pass=x')).toBe('h?pass=***')
  expect(showHostSpec('password=no?username=password')).toBe('password=no?username=password')
  expect(() => parseHostSpec('h:x?password=secret')).toThrow('h:x?password=***\n  ^ -- non-numeric port\n')
  expect(() => parseHostSpec('h?password=secret%zz')).toThrow(/^(?!.*secret)/)
})
