import { expect, test } from 'vitest'
import { tool } from '../../src/tools/pmdiff/index.ts'
import { rowLine, rowsOf } from '../../src/tools/pmdiff/rows.ts'
import { TOOLS } from '../../src/tools/registry.ts'
import { testIo } from './run-tool.ts'

function lines(before: Record<string, number>, after: Record<string, number>, precision = 3): string[] {
  const rows = rowsOf(new Map(Object.entries(before)), new Map(Object.entries(after)), 1)
  return rows.map((row) => rowLine(row, precision))
}

// Recorded from PCP 6.0.3.
test('rows are sorted by displayed ratio, then by name', () => {
  const before = {
    a: 0,
    o: 1,
    n: 1,
    m: 1,
    k: 9,
    c: 99,
    d: 99.04,
    e: 999,
    f: 999.4,
    g: 99_999_999,
    h: 1e8,
    i: 7,
  }
  const after = { a: 0.029, o: 100.4, n: 100, m: 3, k: 2, c: 1, d: 1, e: 1, f: 1, g: 1, h: 1, i: 0 }
  expect(lines(before, after).join('')).toBe(`          0.000           0.029    |+|   a
          1.000         100.4     >100   o
          1.000         100.0    100.00   n
          1.000           3.000   3.00   m
          9.000           2.000   0.22   k
         99.00            1.000   0.01   c
         99.0             1.000   0.01   d
        999.0             1.000   0.001  e
        999               1.000   0.001  f
   99999999               1.000  <0.001  g
      100000000           1.000  <0.001  h
          7.000           0.000    |-|   i
`)
  expect(lines({ a: 2000 }, { a: 2 }, 5)).toEqual(['       2000                 2.00000   0.001  a\n'])
})

test('leaves out small changes, and metrics of only one side', () => {
  const side = (value: number, extra: string): Map<string, number> =>
    new Map([
      ['zero', 0],
      ['same', 3],
      ['negative', value],
      [extra, 1],
    ])
  expect(rowsOf(side(-2, 'x'), side(-4, 'y'), 2).map(({ name, ratio }) => [name, ratio])).toEqual([
    ['negative', '2.00'],
  ])
})

async function pmdiff(args: readonly string[]) {
  const io = { ...testIo('pmdiff', args), commands: async () => TOOLS }
  return { status: await tool.run(io), ...io.printed }
}

test('reports an unreadable archive', async () => {
  const { status, stdout } = await pmdiff(['--skip-excluded', '/nosuch/a', '/nosuch/b'])
  expect(status).toBe(1)
  expect(stdout).toBe(`Directory: /

Warnings from pmlogsummary ... /nosuch/a
pmlogsummary: Cannot open archive "/nosuch/a": No such file or directory

Warnings from pmlogsummary ... /nosuch/b
pmlogsummary: Cannot open archive "/nosuch/b": No such file or directory

Ratio Threshold: >= 2.00 or <= 0.500
              a               b   Ratio  Metric-Instance
      start-end       start-end
`)
})

test.each([
  [['-q', 'x', 'a', 'b'], '-q requires a positive numeric argument'],
  [['-p', '-1', 'a', 'b'], '-p requires a number of digits up to 20'],
])('refuses %j', async (args, message) => {
  expect((await pmdiff(args)).stderr).toMatch(`pmdiff: ${message}\nUsage: pmdiff [options]`)
})

test('takes one archive or two', async () => {
  expect((await pmdiff(['a', 'b', 'c'])).stderr).toMatch(/^Usage: pmdiff /)
  expect((await pmdiff([])).status).toBe(1)
})
