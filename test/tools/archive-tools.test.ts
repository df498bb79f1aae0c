import { readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { indom as makeIndom, pmid } from '../../src/model/ids.ts'
import type { Tool } from '../../src/tools/lib/tool.ts'
import { tool as pmlogcheck } from '../../src/tools/pmlogcheck/index.ts'
import { tool as pmlogdump } from '../../src/tools/pmlogdump/index.ts'
import { tool as pmloglabel } from '../../src/tools/pmloglabel.ts'
import { tool as pmlogsummary } from '../../src/tools/pmlogsummary/index.ts'
import { desc, indom, result, type TestArchive } from '../archive/build.ts'
import { onDisk, sampleArchive } from './archive-runner.ts'
import { runTool } from './run-tool.ts'

let made: ReturnType<typeof onDisk> | undefined
afterEach(() => made?.remove())

function make(options: TestArchive = sampleArchive()): string {
  made = onDisk(options)
  return made.path
}

const stdoutOf = async (tool: Tool, ...args: string[]): Promise<string> => (await runTool(tool, args)).stdout

describe('pmlogdump', () => {
  it('shows values of all kinds, errors, missing values and marks', async () => {
    const text = await stdoutOf(pmlogdump, make())
    expect(text.slice(0, text.indexOf('00:00:15'))).toBe(`
00:00:00.000000000 5 metrics
    9.0.1 (t.counter): value 0
    9.0.2 (t.instances or t.other):
        inst [1 or "one"] value 0
        inst [2 or "two words"] value 0
    9.0.3 (t.discrete): value 0
    9.0.4 (t.text): value "at 0"
    9.0.5 (t.failing): Unknown metric name

00:00:10.000000000 5 metrics
    9.0.1 (t.counter): value 100
    9.0.2 (t.instances or t.other):
        inst [1 or "one"] value 100
        inst [2 or "two words"] value 200
    9.0.3 (t.discrete): value 100
    9.0.4 (t.text): value "at 10"
    9.0.5 (t.failing): No values returned!

`)
    expect(text).toContain('\n00:00:35.001000000  <mark>\n')
  })

  it('shows the given metrics in reverse, with sizes and dates', async () => {
    const path = make(sampleArchive(2))
    const text = await stdoutOf(pmlogdump, '-rsxxx', '-S', '+65', path, 't.counter')
    expect(text).toBe(`
Log finished at Thu Jan  1 00:01:10 1970 - dump in reverse order

[40 bytes]
Thu Jan  1 00:01:10.000000 1970 (70.000000) 70 1 metric
    9.0.1 (t.counter): value 150

[40 bytes]
Thu Jan  1 00:01:05.000000 1970 (65.000000) 65 1 metric
    9.0.1 (t.counter): value 100
`)
  })

  it('counts a metric named twice once, and sizes as many value blocks as it shows', async () => {
    const path = make()
    const text = await stdoutOf(pmlogdump, '-s', path, 't.text', 't.counter', 't.text')
    expect(text).toContain('\n[76 bytes]\n00:00:00.000000000 2 metrics\n    9.0.4 (t.text): value "at 0"\n')
    expect(await stdoutOf(pmlogdump, '-s', path, 't.text')).toContain(
      '[56 bytes]\n00:00:00.000000000 1 metric\n',
    )
    const { status, stderr } = await runTool(pmlogdump, [path, ''])
    expect([status, stderr]).toEqual([
      1,
      'pmlogdump: pmLookupName(): Unknown metric name\nNo metric names can be translated, dump abandoned\n',
    ])
  })

  it('begins in reverse with the newest record that is shown, or the one before an empty window', async () => {
    const path = make(sampleArchive(2))
    const headOf = async (...args: string[]): Promise<string> =>
      (await stdoutOf(pmlogdump, '-r', ...args)).split(' - ')[0]!
    expect(await headOf(path, 't.counter')).toBe('\nLog finished at Thu Jan  1 00:01:10 1970')
    expect(await stdoutOf(pmlogdump, '-r', '-S', '+61', '-T', '+1', path)).toBe(
      '\nLog finished at Thu Jan  1 00:01:00 1970 - dump in reverse order\n',
    )
  })

  it('shows label, descriptors, help, instance domains and index', async () => {
    const text = await stdoutOf(pmlogdump, '-Ldhit', make())
    expect(text).toBe(`Log Label (Log Format Version 3)
Performance metrics from host testhost
    commencing Thu Jan  1 00:00:00.000000000 1970
    ending     Thu Jan  1 00:01:10.000000000 1970
Archive timezone: UTC
Archive zoneinfo: :Etc/UTC
PID for pmlogger: 42

Descriptions for Metrics in the Log ...
PMID: 9.0.1 (t.counter)
    Data Type: 32-bit unsigned int  InDom: PM_INDOM_NULL 0xffffffff
    Semantics: counter  Units: count
PMID: 9.0.2 (t.instances or t.other)
    Data Type: 64-bit unsigned int  InDom: 9.1 0x2400001
    Semantics: instant  Units: byte
PMID: 9.0.3 (t.discrete)
    Data Type: double  InDom: PM_INDOM_NULL 0xffffffff
    Semantics: discrete  Units: none
PMID: 9.0.4 (t.text)
    Data Type: string  InDom: PM_INDOM_NULL 0xffffffff
    Semantics: discrete  Units: none
PMID: 9.0.5 (t.failing)
    Data Type: double  InDom: PM_INDOM_NULL 0xffffffff
    Semantics: instant  Units: none

Metric Help Text in the Log ...
PMID: 9.0.1 [counts]
PMID: 9.0.1
counts things
and more

Instance Domains in the Log ...
InDom: 9.1
00:00:00.000000000 2 instances
   1 or "one"
   2 or "two words"

Temporal Index
\t\t\tLog Vol    end(meta)     end(log)
00:00:00.000000000\t      0          808          808
`)
  })

  it('reports unknown names, and shows the records before damage', async () => {
    const path = make()
    expect(await runTool(pmlogdump, [path, 'no.such'])).toEqual({
      status: 1,
      stdout: '',
      stderr:
        'pmlogdump: pmLookupName(no.such): Unknown metric name\nNo metric names can be translated, dump abandoned\n',
    })
    const { size } = statSync(`${path}.0`)
    truncateSync(`${path}.0`, size - 4)
    const { status, stderr, stdout } = await runTool(pmlogdump, [path])
    expect([status, stderr]).toEqual([1, 'pmlogdump: pmFetch: Corrupted record in a PCP archive log\n'])
    expect(stdout.endsWith('    9.0.5 (t.failing): No values returned!\n')).toBe(true)
  })

  it('shows the bytes of a file', async () => {
    const text = await stdoutOf(pmlogdump, '-v', `${make(sampleArchive(2))}.0`)
    expect(text).toContain('Dump ... record len: 132 @ offset: 0\n 50052602 0000002a 00000000 00000000')
  })
})

describe('pmlogsummary', () => {
  // The example in the documentation: rates 10, 4, 1, 20, 10, one decrease, one mark.
  it('averages counters by rate, values by time, and leaves out intervals that end with a mark or a decrease', async () => {
    expect(await stdoutOf(pmlogsummary, '-bmMy', make())).toBe(
      `t.discrete  310.000 352.723 0.000 1200.000 8 none
t.other ["one"] 351.250 352.727 0.000 1200.000 8 byte
t.other ["two words"] 702.500 705.455 0.000 2400.000 8 byte
t.counter  9.000 7.800 1.000 20.000 5 count / sec
`,
    )
  })

  it('reports with -v each metric that has an error once, and a specification that cannot be read', async () => {
    const path = make()
    const { stderr } = await runTool(pmlogsummary, ['-v', '-B', '3', path, 't.counter', ''])
    expect(stderr).toBe(
      '\n^ -- performance metric name expected\n' +
        'pmlogsummary: t.failing(9.0.5) - failed in archive value fetch: Unknown metric name\n',
    )
    expect((await runTool(pmlogsummary, [path])).stderr).toBe('')
  })

  it('gives the same averages with and without further columns', async () => {
    const path = make()
    const brief = (await stdoutOf(pmlogsummary, path)).split('\n')
    const full = (await stdoutOf(pmlogsummary, '-bB', '3', path)).split('\n')
    for (const [i, line] of brief.entries()) {
      const time = /(\S+) \S+(?: \/ sec)?$/.exec(line)?.[1]
      if (time !== undefined) expect(full[i]).toContain(` ${time} [<=`)
    }
  })

  it('counts values in bins of equal width', async () => {
    expect(await stdoutOf(pmlogsummary, '-xB', '4', make(), 't.instances[one]')).toBe(
      't.instances ["one"] 351.250 [<=300.000] 6 [<=600.000] 0 [<=900.000] 0 [<=1200.000] 2 byte\n',
    )
  })

  it('corrects wrapped counters on request', async () => {
    const path = make()
    const { stdout } = await runTool(pmlogsummary, ['-y', path, 't.counter'], undefined, {
      PCP_COUNTER_WRAP: '',
    })
    expect(stdout).toMatch(/^t\.counter {2}\d+\.\d{3} 6 count \/ sec\n$/)
  })

  it('writes comma-separated columns with headings', async () => {
    expect(await stdoutOf(pmlogsummary, '-HFsp', '1', make(), 't.counter')).toBe(
      'metric,sum,units\nt.counter,,390.0,count\n',
    )
  })
})

describe('pmlogcheck', () => {
  it('checks index, metadata and volumes in this order, and counts the record that ends the window', async () => {
    const path = make()
    const { stderr } = await runTool(pmlogcheck, ['-v', '-l', '-T', '+12', path])
    const files = stderr.match(/(?<=\.)\w+(?=: start pass0)/g)
    expect(files).toEqual(['index', 'meta', '0'])
    expect(stderr).toContain('  ending     Thu Jan  1 00:00:12.000 1970\n')
    expect(stderr).toContain('Processed 3 pmResult records\n')
  })

  it('reports counters that decrease, but not after a mark', async () => {
    const path = make()
    const { status, stderr } = await runTool(pmlogcheck, [path])
    expect([status, stderr]).toEqual([
      0,
      `${path}.0:[00:01:05.000]: t.counter: unsigned 32-bit wrap
\tvalue 1200 at 00:01:00.000
\tvalue 100 at 00:01:05.000
`,
    ])
    expect(await runTool(pmlogcheck, ['-w', path])).toEqual({ status: 0, stdout: '', stderr: '' })
  })

  it('finds a file that ends within a record, and truncates it before that record', async () => {
    const path = make()
    const whole = statSync(`${path}.0`).size
    truncateSync(`${path}.0`, whole - 10)
    const found = await runTool(pmlogcheck, ['-w', path])
    expect(found.status).toBe(1)
    const end = /last valid record ends at offset (\d+)\n/.exec(found.stderr)?.[1]
    expect(found.stderr).toContain(`${path}.0[record 9]: unexpected EOF in record body`)
    const repaired = await runTool(pmlogcheck, ['-Rw', path])
    expect(repaired.stderr).toContain(`Info: ${path}.0: truncated from ${whole - 10} to ${end} bytes\n`)
    expect(await runTool(pmlogcheck, ['-w', path])).toEqual({ status: 0, stdout: '', stderr: '' })
  })

  it.each([
    [60.000000001, ''],
    [60.001, ''],
    [60.002, 'InDom 60.1: timestamp (60.002000000) after the end of the archive (60.000000000)\n'],
    [61, 'InDom 60.1: timestamp (61.000000000) after the end of the archive (60.000000000)\n'],
  ])('reports instances after the end, but not changes within one time: %d s', async (second, expected) => {
    const domain = makeIndom(60, 1)
    const id = pmid(60, 0, 1)
    const path = make({
      start: 10,
      version: 3,
      meta: [
        desc({ pmid: id, indom: domain }, 'm'),
        indom(3, 10, domain, [[1, 'a']]),
        indom(3, second, domain, [[1, 'b']]),
      ],
      volumes: [[10, 60].map((time) => result(3, time, { pmid: id, values: [[1, 1]] }))],
    })
    const { stderr } = await runTool(pmlogcheck, ['-w', path])
    expect(/InDom.*\n/.exec(stderr)?.[0] ?? '').toBe(expected)
  })

  it('reports files that are missing', async () => {
    const { stderr, status } = await runTool(pmlogcheck, [join(make(), '..', 'b')])
    expect(status).toBe(1)
    expect(stderr).toMatch(/^pmlogcheck: no PCP archive files match ".*b"\n$/)
  })
})

describe('pmloglabel', () => {
  it('sets host, process, timezone and keeps zoneinfo, in all files', async () => {
    const path = make()
    expect(await runTool(pmloglabel, ['-h', 'elsewhere', '-p', '7', '-Z', 'EST5', path])).toEqual({
      status: 0,
      stdout: '',
      stderr: '',
    })
    expect(await stdoutOf(pmloglabel, '-L', path)).toBe(`Log Label (Log Format Version 3)
Performance metrics from host elsewhere
  commencing Thu Jan  1 00:00:00.000 1970
  ending     Thu Jan  1 00:01:10.000 1970
Archive timezone: EST5
PID for pmlogger: 7
`)
    expect(readFileSync(`${path}.index`).includes(':Etc/UTC')).toBe(true)
  })

  it('reports files whose labels disagree, and does not make a label of another size', async () => {
    const path = make()
    const bytes = readFileSync(`${path}.index`)
    await runTool(pmloglabel, ['-p', '7', path])
    writeFileSync(`${path}.index`, bytes)
    expect(await runTool(pmloglabel, [path])).toEqual({
      status: 2,
      stdout: '',
      stderr: 'Mismatched PID (42/7) between temporal index and data volume 0\n',
    })
    const { status, stderr } = await runTool(pmloglabel, ['-V', '2', path])
    expect(status).toBe(3)
    expect(stderr).toContain('the records after it would be lost')
  })
})
