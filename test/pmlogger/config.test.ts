import { expect, test } from 'vitest'
import { PcpError } from '../../src/model/errors.ts'
import { OP_ADVISORY, OP_ENQUIRE, OP_MANDATORY, parseLoggerConfig } from '../../src/pmlogger/config.ts'
import { parseConfigText } from '../../src/pmlogger/read-config.ts'

/** Formats statements: `mandatory on 5000 a[1,x] b`. */
function short(text: string): string[] {
  return parseLoggerConfig(text, 'f').statements.map(({ control, state, deltaMs, metrics }) => {
    const list = metrics.map(
      ({ name, instances }) => name + (instances.length === 0 ? '' : `[${instances.join()}]`),
    )
    return `${control} ${state} ${deltaMs ?? 'default'} ${list.join(' ')}`
  })
}

function failure(text: string): string {
  try {
    parseLoggerConfig(text, 'f')
  } catch (error) {
    return PcpError.from(error).message
  }
  return 'no failure'
}

test.each([
  ['log mandatory on 5 sec { a b }', ['mandatory on 5000 a b']],
  ['on once a', ['advisory on 0 a']],
  ['log on default { a, b.c }', ['advisory on default a b.c']],
  ['log advisory on every 2 hours x', ['advisory on 7200000 x']],
  ['mandatory off y log mandatory maybe z', ['mandatory off 0 y', 'mandatory maybe 0 z']],
  ['log on 10 milliseconds { a [ red, 5 "a b" ] b["x\\"y"] }', ['advisory on 10 a[red,5,a b] b[x"y]']],
  ['# nothing\n', []],
  ['log on 1 minute { on off log }', ['advisory on 60000 on off log']],
])('reads %s', (text, expected) => {
  expect(short(text)).toEqual(expected)
})

test.each([
  // The first lines are from PCP 6.0.3.
  [
    'log mandatory on 2.5 sec a',
    "(f)\n[line 1] Unexpected character '.'\nlog mandatory on 2.5 sec a\n                  ^",
  ],
  ['\n advisory maybe a', '(f)\n[line 2] syntax error\n advisory maybe a\n          ^'],
  ['mandatory on 2 fort a', '(f)\n[line 1] syntax error\nmandatory on 2 fort a\n               ^'],
  [
    'on 300000000 msec a',
    '(f)\n[line 1] Logging delta (300000000 msec) cannot be bigger than 268435455 msec\non 300000000 msec a\n   ^',
  ],
  ['on once { a', '(f)\n[line 1] syntax error\non once { a\n           ^'],
  ['on once { 5 }', '(f)\n[line 1] syntax error\non once { 5 }\n          ^'],
  ['on once a[', '(f)\n[line 1] syntax error\non once a[\n          ^'],
  ['on once { a }\n[access]\nallow fred\n', "(f)\n[line 4] ',' or ':' expected after \"fred\""],
  // A line marker may contain any number.
  ['# 2147483647 "g"\n[access]\nallow fred : fetch;', '(f)\ng: [line 2147483648] bad access specifier'],
  ['on once { a }\n[access]\nallow fred : fetch;', '(f)\n[line 3] bad access specifier'],
])('refuses %j', (text, expected) => {
  expect(failure(text)).toBe(`Specification error in configuration file ${expected}`)
})

test('access rules use the operations of a logger', () => {
  const { access } = parseLoggerConfig(
    'on once { a }\n[access]\ndisallow * : all;\ndisallow :* : all; # :;\nallow local:*, 10.* : enquire, advisory;\nallow h : all except mandatory;',
    'f',
  )
  expect(access.map(({ names, specified, denied, line }) => [names, specified, denied, line])).toEqual([
    [['*'], 7, 7, 3],
    [[':*'], 7, 7, 4],
    [['local:*', '10.*'], OP_ENQUIRE | OP_ADVISORY, 0, 5],
    [['h'], 7, OP_MANDATORY, 6],
  ])
})

test('an access section after a metric without braces is not an instance list', () => {
  const { statements, access } = parseLoggerConfig('on once a\n[access]\nallow * : all;\n', 'f')
  expect(statements[0]!.metrics[0]!.instances).toEqual([])
  expect(access).toHaveLength(1)
  expect(
    parseLoggerConfig('on once a [access]\non once b', 'f').statements[0]!.metrics[0]!.instances,
  ).toEqual(['access'])
})

test('macros are replaced, and errors give the line in the original file', () => {
  const places = { cwd: '/', variables: { PCP_VAR_DIR: '/nowhere' }, warn: () => {} }
  const text = '%define T 5\n%ifdef T\nlog on %T sec a\n%endif\nlog on %{T} min %b\n'
  expect(() => parseConfigText(text, 'f', places)).toThrow("[line 5] Unexpected character '%'")
  const { statements } = parseConfigText('%define T 5\nlog on %T sec a', 'f', places)
  expect(statements.map(({ deltaMs, metrics }) => [deltaMs, metrics[0]!.place.line])).toEqual([[5000, 2]])
})
