/** Expected rows are those of PCP 6.0.3; test/interop/pmdumptext.test.ts compares far more. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createArchive } from '../../src/archive.ts'
import { PM_SEM_COUNTER, PM_SEM_INSTANT, PM_TYPE_STRING, PM_TYPE_U32 } from '../../src/model/types.ts'
import { tool } from '../../src/tools/pmdumptext/index.ts'
import { runTool } from './run-tool.ts'

const START = 1_700_000_000 // 22:13:20
let dir: string
let archive: string

beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'pcp-ts-dumptext-'))
  archive = join(dir, 'made')
  const made = createArchive(archive, { hostname: 'elsewhere', timezone: 'UTC' })
  made.addMetric('made.size', { type: PM_TYPE_U32, sem: PM_SEM_INSTANT, units: 'Kbyte', indom: 'parts' })
  made.addMetric('made.busy', { type: PM_TYPE_U32, sem: PM_SEM_COUNTER, units: 'millisec' })
  made.addMetric('made.name', { type: PM_TYPE_STRING, sem: PM_SEM_INSTANT })
  for (let i = 0; i <= 5; i++) {
    made.put('made.size', 100 * (i + 1), 'first part')
    made.put('made.size', 1, 'second')
    made.put('made.busy', 250 * i)
    made.put('made.name', `n${i}`)
    made.write({ sec: START + i, nsec: 0 })
  }
  made.close()
})
afterAll(() => rmSync(dir, { recursive: true }))

const pmdumptext = (...args: string[]): ReturnType<typeof runTool> =>
  runTool(tool, ['-a', archive, '-d', '|', ...args])

test('tables for programs have full names and units of the metrics', async () => {
  expect(
    (await pmdumptext('-m', '-u', '-f', '%T', '-s', '2', 'made.busy', 'made.size', 'made.name')).stdout,
  ).toBe(`Time|made.busy|made.size["first part"]|made.size["second"]|made.name
none|millisec / second|Kbyte|Kbyte|none
22:13:20|?|100.000|1.000|"n0"
22:13:21|250.000|200.000|1.000|"n1"
`)
})

test('tables for people are cut to columns, in bytes and seconds', async () => {
  expect((await pmdumptext('-imlu', '-f', '%T', '-s', '2', 'made.busy', 'made.size')).stdout).toBe(
    `  Source|elsewh|elsewh|elsewh
  Metric|  busy|  size|  size
    Inst|   n/a|first |second
   Units|  util|     b|     b
22:13:20|     ?| 0.10M| 1.02K
22:13:21| 0.25 | 0.20M| 1.02K
`,
  )
})

test('headings are repeated after N rows, and offsets are relative to the start of the archive', async () => {
  expect((await pmdumptext('-moR', '2', '-f', '%S', '-S', '+1sec', '-s', '3', 'made.busy')).stdout).toBe(
    `Time|made.busy
1.00|21|?
2.00|22|250.000

Time|made.busy
3.00|23|250.000
`,
  )
})

test('numbers in a configuration divide values, and values near 0 stay in their column', async () => {
  const file = join(dir, 'config')
  writeFileSync(file, '# a comment\nmade.size["first part"] -1e8\nmade.size[second] x\nmade.busy 1e9\n')
  const { stdout, stderr } = await pmdumptext('-FN', '-f', '', '-r', '-s', '1', '-c', file)
  expect(stdout).toBe('-0.10G| 0.00 | 1.00G\n 0.00  | 1.00 | 0.00 \n')
  expect(stderr).toBe(`pmdumptext: Line 3 of ${file} has an illegal scaling factor, assuming 0.\n`)
})

test('unsuitable metrics are reported, and the others shown', async () => {
  const { status, stdout, stderr } = await pmdumptext(
    ...['-f', '', '-s', '1', 'made.size[third]', 'made[x]', 'made.busy[', 'made.name'],
  )
  expect({ status, stdout }).toEqual({ status: 0, stdout: '"n0"\n' })
  expect(stderr).toBe(`pmdumptext: Error: ${archive}/made.size[third]: Unknown or illegal instance identifier
pmdumptext: Error: ${archive}/made: Metric name is not a leaf in PMNS
pmdumptext: Error: Unable to parse metric spec:
made.busy[
          ^ -- closing ] expected

pmdumptext: Warning: Some metrics ignored, continuing with valid metrics
`)
  expect(await pmdumptext('nosuch')).toEqual({
    status: 1,
    stdout: '',
    stderr: 'pmdumptext: Error: nosuch: Unknown metric name\npmdumptext: no valid metrics, exiting.\n',
  })
})
