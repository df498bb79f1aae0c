import { expect, test } from 'vitest'
import { pickle } from '../../../src/tools/pcp2graphite/pickle.ts'

const POINTS = [
  { path: 'pcp.a', time: 1_455_075_553, value: '0.09' },
  { path: 'pcp.ü\n', time: 1, value: '8' },
  { path: 'b', time: 2, value: '9007199254740993' },
]

test('protocol 0 is text', () => {
  expect(Buffer.from(pickle(POINTS, 0)).toString('latin1')).toBe(
    '(l(Vpcp.a\n(I1455075553\nF0.09\ntta(Vpcp.\\u00fc\\u000a\n(I1\nI8\ntta(Vb\n(I2\nL9007199254740993L\ntta.',
  )
})

test.each([
  [1, ']'],
  [2, '\x80\x02]'],
  [5, '\x80\x02]'],
] as const)('protocol %i is binary', (protocol, head) => {
  const point = (name: string, time: string, value: string): string => `(X${name}(J${time}${value}tt`
  expect(Buffer.from(pickle(POINTS, protocol)).toString('latin1')).toBe(
    `${head}(${[
      point('\x05\0\0\0pcp.a', '\xe1\xb0\xba\x56', 'G\x3f\xb7\x0a\x3d\x70\xa3\xd7\x0a'),
      point('\x07\0\0\0pcp.\xc3\xbc\n', '\x01\0\0\0', 'J\x08\0\0\0'),
      point('\x01\0\0\0b', '\x02\0\0\0', 'L9007199254740993L\n'),
    ].join('')}e.`,
  )
})
