import { expect, test } from 'vitest'
import { openAgent } from '../../src/pmda/open-agent.ts'
import { tool } from '../../src/tools/pmval/index.ts'
import { demoAgent } from '../lib/demo-agent.ts'
import { runTool } from './run-tool.ts'

const pmval = (...args: string[]): ReturnType<typeof runTool> =>
  runTool(tool, ['-t', '10msec', ...args], openAgent(demoAgent))

test('shows the values of a singular metric', async () => {
  expect((await pmval('-s', '2', 'demo.one')).stdout).toBe(`
metric:    demo.one
host:      testhost
semantics: instantaneous value
units:     none
samples:   2
interval:  0.01 sec
          1
          1
`)
})

test('names columns by instance number and truncates names', async () => {
  expect((await pmval('-s', '1', '-w', '7', 'demo.bin')).stdout).toBe(
    `
metric:    demo.bin
host:      testhost
semantics: instantaneous value
units:     none
samples:   1
full label for instance[0]: first
full label for instance[1]: second bin

  first second  ` +
      `
     10      20 
`,
  )
})

test('shows only the given instances', async () => {
  const rows = `
     second bin 
             20 
`
  expect((await pmval('-s', '1', '-w', '15', '-i', '"second bin"', 'demo.bin')).stdout).toContain(rows)
  expect((await pmval('-s', '1', '-w', '15', 'demo.bin["second bin"]')).stdout).toContain(rows)
  // A name can be given up to its first blank; the column's heading is the name as given.
  expect((await pmval('-s', '1', '-w', '15', '-i', 'second', 'demo.bin')).stdout).toContain(
    '\n         second \n             20 \n',
  )
  expect((await pmval('-i', 'third', 'demo.bin')).stderr).toBe('pmval: instance third not available\n')
})

test('shows counters as rates, or raw with -r', async () => {
  const { stdout } = await pmval('-s', '2', 'demo.busy')
  expect(stdout).toContain(
    'semantics: cumulative counter (converting to rate)\nunits:     millisec (converting to time utilization)\n',
  )
  expect(stdout.split('\n').slice(-3)).toHaveLength(3)
  expect((await pmval('-s', '2', '-r', 'demo.count')).stdout).toMatch(
    /cumulative counter\nunits: {5}count\nsamples: {3}2\ninterval: {2}0\.01 sec\n {18}100\n {18}110\n$/,
  )
})

test('shows event records', async () => {
  expect((await pmval('-s', '1', 'demo.events')).stdout).toBe(`host:      testhost
samples:   1
demo.events: 2 event records
  01:01:01.250 --- event record [0] flags 0x1 (point) ---
    demo.param.text "begin"
    demo.param.number -5
    demo.param.bytes [01ff]
  01:01:02.000 --- event record [1] flags 0x80000000 (missed) ---
    ==> 3 missed event records
`)
})

test('reports missing values', async () => {
  expect((await pmval('-s', '1', 'demo.none')).stdout).toMatch(/samples: {3}1\nNo values available\n$/)
  expect((await pmval('-s', '1', 'demo.broken')).stderr).toBe(
    '\npmval: pmFetch: Try again. Information not currently available\n',
  )
})

test('counts samples from the end of the time window', async () => {
  expect((await pmval('-T', '25msec', 'demo.one')).stdout).toContain('samples:   3\n')
  expect((await pmval('-T', '-1', 'demo.one')).stdout).toContain('samples:   0\n')
  expect((await pmval('-T', '@noon', 'demo.one')).stderr).toBe(
    'pmval: invalid time window.\nnoon\n^ -- unexpected value\n\n',
  )
})

test.each([
  [['-f', '30', 'demo.real'], 'pmval: -f 30 too large for column width 21\n'],
  [['demo.one[x]'], 'pmval: demo.one: singular metrics do not have instances\n'],
  [['nosuch'], 'pmval: pmLookupName(nosuch): Unknown metric name\n'],
  [['-x', 'foo', 'demo.one'], 'pmval: filter "foo" incompatible with metric type (PM_TYPE_32)\n'],
])('%j fails with a reason', async (args, message) => {
  const { status, stderr } = await pmval(...args)
  expect({ status, stderr }).toEqual({ status: 1, stderr: message })
})

test.each([
  [[], 'pmval: error - no metricname specified'],
  [['a', 'b'], 'pmval: error - too many arguments'],
  [['-w', '0', 'a'], 'pmval: -w requires +ve numeric argument'],
  [['-h', 'x', 'archive/metric'], 'pmval: only one host or archive allowed'],
])('%j is reported with the usage text', async (args, message) => {
  const { status, stderr } = await pmval(...args)
  expect(status).toBe(1)
  expect(stderr.startsWith(`${message}\nUsage: pmval `)).toBe(true)
})

test('shows the position of an error in a metric specification', async () => {
  expect((await pmval('[a')).stderr).toMatch(/^\[a\n\^ -- performance metric name expected\nUsage: pmval /)
})

test('-T can end before -s', async () => {
  const { stdout } = await pmval('-s', '4', '-T', '20msec', '-t', '10msec', 'demo.one')
  expect(stdout.split('\n').filter((line) => /^ +1$/.test(line))).toHaveLength(2)
  expect(stdout).toContain('samples:   4\n')
  expect((await pmval('-s', '4', '-T', '-1sec', 'demo.one')).stdout).toMatch(/interval: {2}0\.01 sec\n$/)
})

test('-Z with an empty name is UTC', async () => {
  const { status, stdout } = await pmval('-s', '1', '-Z', '', 'demo.one')
  expect(status).toBe(0)
  expect(stdout).toMatch(/^Note: timezone set to "TZ="\n/)
})

test('halves of a hundredth are rounded as by printf', async () => {
  expect((await pmval('-s', '2', '-t', '125msec', 'demo.one')).stdout).toContain('interval:  0.12 sec\n')
  expect((await pmval('-s', '2', '-t', '375msec', 'demo.one')).stdout).toContain('interval:  0.38 sec\n')
})
