/** The command language of pmlc. */
import { expect, test } from 'vitest'
import { isOpen, parseCommand } from '../../../src/tools/pmlc/parse.ts'

const METRICS = [
  { name: 'a.b', instances: [] },
  { name: 'c', instances: [5, 'x y', 'z'] },
]

test.each([
  ['', { kind: 'nothing' }],
  ['# only a remark', { kind: 'nothing' }],
  ['?', { kind: 'help' }],
  ['show', { kind: 'show', host: undefined }],
  ['show loggers @db1', { kind: 'show', host: 'db1' }],
  ['show at db1', { kind: 'show', host: 'db1' }],
  ['connect primary', { kind: 'connect', logger: { kind: 'primary' }, host: undefined }],
  ['connect 77@db1', { kind: 'connect', logger: { kind: 'pid', pid: 77 }, host: 'db1' }],
  ['connect port 4330 @ db1', { kind: 'connect', logger: { kind: 'port', port: 4330 }, host: 'db1' }],
  ['query a.b', { kind: 'query', metrics: [METRICS[0]] }],
  ['query { a.b, # first\n c[5,"x y" z]\n}', { kind: 'query', metrics: METRICS }],
  [
    'log mandatory on every 5 minutes a.b',
    { kind: 'log', control: 'mandatory', state: 'on', deltaMs: 300_000, metrics: [METRICS[0]] },
  ],
  [
    'advisory on once a.b',
    { kind: 'log', control: 'advisory', state: 'on', deltaMs: 0, metrics: [METRICS[0]] },
  ],
  [
    'mandatory maybe a.b',
    { kind: 'log', control: 'mandatory', state: 'maybe', deltaMs: 0, metrics: [METRICS[0]] },
  ],
  ['new volume', { kind: 'newVolume' }],
  ["timezone 'UTC'", { kind: 'timezone', zone: 'UTC' }],
  ['timezone logger', { kind: 'timezone', zone: 'logger' }],
  ['flush', { kind: 'sync' }],
])('%j', (text, command) => {
  expect(parseCommand(text)).toEqual(command)
})

test.each([
  ['flob', 'syntax error'],
  ['log a.b', 'syntax error'],
  ['advisory maybe a.b', 'syntax error'],
  ['query', 'syntax error'],
  ['query a.b [', 'syntax error'],
  ['status now', 'syntax error'],
  ['advisory on default a.b', 'syntax error'],
  ['advisory on -1 msec a.b', "Unexpected character '-'"],
  ['advisory on 75 hours a.b', 'Logging delta (270000000 msec) cannot be bigger than 268435455 msec'],
])('%j is refused', (text, message) => {
  expect(() => parseCommand(text)).toThrow(new SyntaxError(message))
})

test('a command continues while a brace is open', () => {
  expect(isOpen('query {')).toBe(true)
  expect(isOpen('query { a # }')).toBe(true)
  expect(isOpen('query { a["}"]')).toBe(true)
  expect(isOpen('query { a\n}')).toBe(false)
})
