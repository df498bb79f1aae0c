/** pcp-ts incident: the file that it writes, and what it refuses. */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ArchiveImport } from '../../src/archive/import/archive-import.ts'
import { PM_TYPE_STRING } from '../../src/model/types.ts'
import { archiveOutput } from '../../src/sys/archive-output.ts'
import { incidentIn } from '../../src/ui/incident/incident.ts'
import { runProgram, type ToolRun } from '../lib/tool-process.ts'

let dir: string
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'incident-'))
  const options = { hostname: 'db1', timezone: 'UTC', pid: 1 }
  const made = new ArchiveImport(archiveOutput(join(dir, 'day')), options)
  for (const name of ['disk.dev.read', 'disk.dev.write', 'load']) made.addMetric(name)
  made.addMetric('disk.dev.model', { type: PM_TYPE_STRING })
  const many = Array.from({ length: 30 }, (_, i) => `many.m${10 + i}`)
  for (const name of many) made.addMetric(name)
  for (let sec = 0; sec <= 600; sec += 10) {
    for (const name of ['disk.dev.read', 'disk.dev.write', 'load', ...many]) made.put(name, sec)
    made.put('disk.dev.model', 'fast')
    made.write({ sec: 1_700_000_000 + sec, nsec: 0 })
  }
  made.close()
})
afterAll(() => rmSync(dir, { recursive: true }))

const incident = (file: string, ...args: string[]): Promise<ToolRun> =>
  runProgram(join(process.cwd(), 'bin', 'pcp-ts'), ['incident', '-a', 'day', '-o', file, ...args], {
    cwd: dir,
  })

/** Runs the command and returns the metrics of the charts above the overview. */
async function chartsOf(...args: string[]): Promise<string[]> {
  const file = join(dir, 'out.html')
  expect(await incident(file, ...args)).toMatchObject({ status: 0, stderr: '' })
  const { shown } = incidentIn(readFileSync(file, 'utf8'))!
  rmSync(file)
  const { charts } = shown!.view
  const overview = charts.findIndex(({ title }) => title === 'CPU')
  return charts.slice(0, overview).map(({ plots }) => plots[0]!.metric)
}

test('named metrics have charts, and so do those below a name whose values are numbers', async () => {
  expect(await chartsOf()).toEqual([])
  expect(await chartsOf('load', 'disk.dev.model')).toEqual(['load', 'disk.dev.model'])
  expect(await chartsOf('disk', 'load')).toEqual(['disk.dev.read', 'disk.dev.write', 'load'])
  const [below, named] = [await chartsOf('many', 'load'), await chartsOf('many', 'many.m39', 'load')]
  expect([below.length, below[23], below[24]]).toEqual([25, 'many.m33', 'load'])
  expect(named.slice(-3)).toEqual(['many.m33', 'many.m39', 'load'])
  expect(await chartsOf('--only', 'disk')).toEqual(['disk.dev.read', 'disk.dev.write'])
})

test.each([
  [['nosuch'], /^pcp-ts incident: Unknown metric name: "nosuch"/],
  [['--only', 'load', 'nosuch'], /Unknown metric name: "nosuch"/],
  [['--only'], /name the metrics to keep/],
  [
    ['-S', '@2030-01-01'],
    /^pcp-ts incident: the start, -S, \(.* 2030\) is after the end of the archive \(.* 2023\)$/m,
  ],
  [['-S', '@2023-11-14 22:20', '-T', '@2023-11-14 22:16'], /the start, -S, \(.*\) is after the end, -T/],
  [['-T', '@2020-01-01'], /the start of the archive \(.* 2023\) is after the end, -T \(.* 2020\)/],
])('%j is an error, and no file is written', async (args, message) => {
  const { status, stderr } = await incident('bad.html', ...args)
  expect({ status, stderr }).toEqual({ status: 1, stderr: expect.stringMatching(message) })
  expect(existsSync(join(dir, 'bad.html'))).toBe(false)
})

test('a file that cannot be written is an error with its name', async () => {
  const { status, stderr } = await incident('missing/x.html')
  const expected = `pcp-ts incident: ${join(dir, 'missing/x.html')}: No such file or directory\n`
  expect({ status, stderr }).toEqual({ status: 1, stderr: expected })
})
