import { expect, test } from 'vitest'
import { PcpError } from '../../../../src/model/errors.ts'
import { joinRecordings } from '../../../../src/tools/lib/farm/composite.ts'
import {
  disableLine,
  enableLine,
  hasInstances,
  removeLine,
} from '../../../../src/tools/lib/farm/control-edit.ts'
import { type FarmInstance, instancesIn } from '../../../../src/tools/lib/farm/farm-files.ts'
import { LOGGERS } from '../../../../src/tools/lib/farm/kinds.ts'
import { controlText, expandMacros, identOf, parsePolicy } from '../../../../src/tools/lib/farm/policy.ts'
import { ambiguousHosts, selectInstances } from '../../../../src/tools/lib/farm/selection.ts'

const warnings: string[] = []
const warn = (text: string): void => void warnings.push(text)
const place = {
  kind: LOGGERS,
  variables: { PCP_ARCHIVE_DIR: '/archives', PCP_LOG_DIR: '/logs' },
  hostName: 'here',
  warn,
}

const CONTROL = `$version=1.1
# local
LOCALHOSTNAME y n PCP_ARCHIVE_DIR/LOCALHOSTNAME -c x
$class=web
db1 n n PCP_ARCHIVE_DIR/db1 -c x
#!#db2 n n "PCP_ARCHIVE_DIR/two words" -c x
db12 n n
db1 n n PCP_ARCHIVE_DIR/again -c x
`

function farm(): FarmInstance[] {
  warnings.length = 0
  return instancesIn('f', CONTROL, place)
}

test('reads the instances of a control file, including stopped ones, and warns of incomplete lines', () => {
  const brief = farm().map(({ line, host, path, className, isStopped }) => [
    line,
    host,
    path,
    className,
    isStopped,
  ])
  expect(brief).toEqual([
    [3, 'here', '/archives/here', 'primary', false],
    [5, 'db1', '/archives/db1', 'web', false],
    [6, 'db2', '/archives/two words', 'web', true],
    [8, 'db1', '/archives/again', 'web', false],
  ])
  expect(warnings).toEqual(['f: insufficient fields in control line for host db12'])
})

test('hosts are matched by whole names or patterns', () => {
  const select = (hosts: string[], className?: string): number[] =>
    selectInstances(farm(), { kind: LOGGERS, className, hosts }, warn).map(({ line }) => line)
  expect(select(['db1'])).toEqual([5, 8])
  expect(select(['db[0-9]'])).toEqual([5, 6, 8])
  expect(select(['(d|x)b2', 'LOCALHOSTNAME'])).toEqual([3, 6])
  expect(select(['b1'])).toEqual([])
  expect(warnings).toContain('host b1 not defined in any pmlogger control file')
  expect(select([], 'primary')).toEqual([3])
  expect(select(['here'], 'web')).toEqual([])
  expect(warnings).toContain('host here not defined in class web for any pmlogger control file')
  expect(() => select(['db['])).toThrow(PcpError)
  expect(ambiguousHosts(farm())).toEqual(['db1'])
})

test('marks, unmarks and removes one line', () => {
  const stopped = disableLine(CONTROL, 5)
  expect(stopped.text).toBe(CONTROL.replace('\ndb1', '\n#!#db1'))
  expect(stopped.difference).toBe(
    '5c5\n< db1 n n PCP_ARCHIVE_DIR/db1 -c x\n---\n> #!#db1 n n PCP_ARCHIVE_DIR/db1 -c x\n',
  )
  expect(enableLine(stopped.text, 5).text).toBe(CONTROL)
  const removed = removeLine(CONTROL, 7)
  expect(removed.text).toBe(CONTROL.replace('db12 n n\n', ''))
  expect(removed.difference).toBe('7d6\n< db12 n n\n')
  expect(hasInstances('$version=1.1\n#!#x n n d -c y\n')).toBe(true)
  expect(hasInstances('$version=1.1\n# x n n d -c y\n\n')).toBe(false)
})

const POLICY = `# a policy
[class]
web
[ident]
web-%h

[control]
# how
%h n n PCP_ARCHIVE_DIR/%i -c /c
[create]
# all
hostname(.*)
[destroy]
`

test('reads a class policy', () => {
  const policy = parsePolicy(POLICY, '/class.d/web')
  expect(policy).toEqual({
    path: '/class.d/web',
    className: 'web',
    ident: 'web-%h',
    control: ['# how', '%h n n PCP_ARCHIVE_DIR/%i -c /c'],
    create: ['hostname(.*)'],
  })
  expect(identOf(policy, 'db1', {})).toBe('web-db1')
  expect(parsePolicy('[control]\nx', 'p')).toMatchObject({ ident: '%h', create: undefined })
})

test.each([
  [
    '[ident]\na\n\nb c\n[control]\nx\n',
    '[ident] section is invalid in p policy file (expect a single word, not 3 words)',
  ],
  ['[ident]\na\n[destroy]\n', '[control] section is missing from p policy file'],
  ['[control]\n\n', '[control] section is missing from p policy file'],
])('refuses the policy %j', (text, message) => {
  expect(() => parsePolicy(text, 'p')).toThrow(message)
})

test('makes a control file from a policy, adding missing lines', () => {
  const expand = (line: string): string => expandMacros(line, { h: 'db1', i: 'web-db1' }, {})
  const options = { creator: '# me', className: 'web' }
  expect(controlText(parsePolicy(POLICY, 'p').control, options, expand)).toEqual({
    text: `# me
$class=web
#DO NOT REMOVE OR EDIT THE FOLLOWING LINE
$version=1.1
# how
db1 n n PCP_ARCHIVE_DIR/web-db1 -c /c
`,
    addedVersion: true,
  })
  const whole = ['$version=1.1', '$class=x', '%h']
  expect(controlText(whole, options, expand)).toEqual({
    text: '# me\n$version=1.1\n$class=x\ndb1\n',
    addedVersion: false,
  })
})

test('expands macros, including environment variables', () => {
  const expand = (text: string): string =>
    expandMacros(text, { h: 'H', i: 'I' }, { URL: 'http://%h', EMPTY: '', LOOP: 'ENV(LOOP)x' })
  expect(expand('%h/%i%x ENV(URL) ENV(NONE:y) ENV(EMPTY:)')).toBe('H/I%x http://H y ')
  expect(() => expand('ENV(NONE)')).toThrow('the environment variable NONE is not set')
  expect(() => expand('ENV(EMPTY)')).toThrow(PcpError)
  expect(() => expand('ENV(LOOP)')).toThrow('refer to each other')
})

test('joined configurations have a single access section at the end', () => {
  const made = '#pmlogconf 2.0\nlog a\n[access]\nallow * : all;\n'
  expect(joinRecordings(['log x', made, 'log y\n[access]\nnone;\n'])).toBe(
    'log x\nlog a\nlog y\n[access]\nallow * : all;\n',
  )
  // A single configuration keeps its first line, so pmlogconf can update it.
  expect(joinRecordings([made])).toBe(made)
})
