import { expect, test } from 'vitest'
import { checkOwnOptions, daemonUsage, parseDaemonOptions } from '../../src/pmda/daemon-options.ts'

const parse = (line: string): ReturnType<typeof parseDaemonOptions> =>
  parseDaemonOptions(line === '' ? [] : line.split(' '), (service) => (service === 'http' ? 80 : undefined))

const none = {
  domain: undefined,
  log: undefined,
  user: undefined,
  debug: undefined,
  help: undefined,
  transport: { kind: 'pipe' },
  own: {},
}

test.each<[string, object]>([
  ['', none],
  ['-p', none],
  ['-d 253', { ...none, domain: 253 }],
  ['-d253 -l /tmp/x.log -U pcp', { ...none, domain: 253, log: '/tmp/x.log', user: 'pcp' }],
  ['--domain=7 --log x --user=pcp', { ...none, domain: 7, log: 'x', user: 'pcp' }],
  ['-i 4000', { ...none, transport: { kind: 'inet', port: 4000 } }],
  ['-i http', { ...none, transport: { kind: 'inet', port: 80 } }],
  ['--ipv6=4000', { ...none, transport: { kind: 'ipv6', port: 4000 } }],
  ['-u /run/x.socket', { ...none, transport: { kind: 'unix', path: '/run/x.socket' } }],
  ['-pd 3', { ...none, domain: 3 }],
  ['-D pdu,fetch -h /x/help', { ...none, debug: 'pdu,fetch', help: '/x/help' }],
  ['operand -d 3 -- -x', { ...none, domain: 3 }],
])('understands "%s"', (line, expected) => {
  expect(parse(line)).toEqual(expected)
})

test.each<[string, readonly string[]]>([
  ['-d abc', ['-d requires numeric domain number']],
  ['-d 511', ['-d requires numeric domain number']],
  ['-d', ["option requires an argument -- 'd'"]],
  ['--domain', ["option '--domain' requires an argument"]],
  ['-x', ["invalid option -- 'x'"]],
  ['--nosuch', ["unrecognized option '--nosuch'"]],
  ['--d=3', ["option '--d=3' is ambiguous"]],
  ['-i 123 -p', ['-p option clashes with -i option']],
  ['-6 1 -p -u x', ['-p option clashes with -6 option', '-u option clashes with -6 option']],
  ['-D nosuch', ['unrecognized debug options specification (nosuch)']],
  ['-i nosuch', ['-i requires a port number or the name of a service, not "nosuch"']],
  ['-6 65536', ['-6 requires a port number or the name of a service, not "65536"']],
  ['-?', []],
  ['--help', []],
])('refuses "%s"', (line, problems) => {
  expect(parse(line)).toEqual({ problems })
})

test('the usage text has a line for each option that does something', () => {
  const lines = daemonUsage('pmdademo').split('\n')
  expect(lines[0]).toBe('Usage: pmdademo [options]')
  expect(lines.filter((line) => /^ {2}-. ?/.test(line)).length).toBe(10)
})

const OWN = [
  { short: 'A', long: 'no-checks', help: 'Let everybody see everything' },
  { short: 'r', long: 'group', arg: 'NAME', help: 'Look at one group only' },
  { long: 'threads', help: 'Show threads as well' },
]

test('an agent may have additional options', () => {
  const parseOwn = (line: string): unknown => parseDaemonOptions(line.split(' '), () => undefined, OWN)
  expect(parseOwn('-d 3 -Ar web')).toEqual({ ...none, domain: 3, own: { 'no-checks': true, group: 'web' } })
  expect(parseOwn('--threads --group=a --group b')).toEqual({ ...none, own: { threads: true, group: 'b' } })
  expect(parseOwn('--group')).toEqual({ problems: ["option '--group' requires an argument"] })
  expect(daemonUsage('pmdademo', OWN)).toContain('  -r NAME, --group=NAME      Look at one group only\n')
  expect(daemonUsage('pmdademo', OWN)).toContain('      --threads              Show threads as well\n')
  expect(parse('-A')).toEqual({ problems: ["invalid option -- 'A'"] })
})

test.each([
  [OWN, undefined],
  [[{ long: 'x', help: '' }], 'option --x: two or more small letters'],
  [[{ short: 'ab', long: 'xyz', help: '' }], 'option --xyz: two or more'],
  [[{ short: 'd', long: 'xyz', help: '' }], 'option --xyz exists already'],
  [[{ long: 'log', help: '' }], 'option --log exists already'],
  [[...OWN, { long: 'threads', help: '' }], 'option --threads exists already'],
])('invalid additional options are refused: %#', (own, problem) => {
  const said = checkOwnOptions(own)
  if (problem === undefined) expect(said).toBeUndefined()
  else expect(said).toContain(problem)
})
