/** Files of processes with a line for each field. */
import { expect, test } from 'vitest'
import { TextLineReader } from '../../../src/agents/proc/text-lines.ts'

const STATUS = '\nName:\tcat\nUid:\t1000\t1001\t1002\t1003\nVmRSS:\t    4096 kB\nSigPnd:\t00ff\nEmpty:\n'

test('finds numbers, columns and texts by their labels', () => {
  const lines = new TextLineReader().read(STATUS)
  expect(lines.number('\nVmRSS:')).toBe(4096)
  expect([0, 1, 3, 4].map((column) => lines.column('\nUid:', column))).toEqual([1000, 1001, 1003, Number.NaN])
  expect(lines.text('\nSigPnd:')).toBe('00ff')
  expect(lines.text('\nEmpty:')).toBe('')
  expect(lines.number('\nEmpty:')).toBeNaN()
  expect(lines.column('\nEmpty:', 1)).toBeNaN()
})

test('returns nothing for a missing line', () => {
  const lines = new TextLineReader().read(STATUS)
  expect(lines.has('\nVmSwap:')).toBe(false)
  expect([lines.number('\nVmSwap:'), lines.column('\nGid:', 0), lines.text('\nName')]).toEqual([
    Number.NaN,
    Number.NaN,
    undefined,
  ])
})

test('parses texts with different lines in turn', () => {
  const reader = new TextLineReader()
  for (let i = 0; i < 20; i++) {
    expect(reader.read(`\nName:\tp${i}\nVmRSS:\t${i} kB\n`).number('\nVmRSS:')).toBe(i)
    const kernel = reader.read(`\nName:\tk${i}\nThreads:\t1\nVm${i}:\t3`)
    expect([kernel.has('\nVmRSS:'), kernel.number('\nThreads:'), kernel.number(`\nVm${i}:`)]).toEqual([
      false,
      1,
      3,
    ])
  }
  expect(reader.read('\n').has('\nName:')).toBe(false)
})
