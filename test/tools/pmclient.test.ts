import { expect, test } from 'vitest'
import { PcpError } from '../../src/model/errors.ts'
import { overrideSource } from '../../src/model/layer.ts'
import type { MetricSource } from '../../src/model/source.ts'
import type { MetricSpec } from '../../src/pmda/define.ts'
import { defineAgent } from '../../src/pmda/define-agent.ts'
import { openAgent } from '../../src/pmda/open-agent.ts'
import { tool } from '../../src/tools/pmclient/index.ts'
import { runTool } from './run-tool.ts'

/** A host whose processors are busier the higher their number, with two seconds between fetches. */
function host(processors: number, missing?: string): MetricSource {
  let fetches = 0
  const cpus = {
    serial: 1,
    instances: () => ({
      ids: Array.from({ length: processors }, (_, i) => i),
      names: Array.from({ length: processors }, (_, i) => `cpu${i}`),
    }),
    help: 'Processors',
  }
  const averages = {
    serial: 2,
    instances: () => ({ ids: [1, 15], names: ['1 minute', '15 minute'] }),
    help: 'Times',
  }
  const counter = { type: 'u64', sem: 'counter', help: 'A counter' } as const
  const value = { sem: 'instant', help: 'A value' } as const
  const metrics: Readonly<Record<string, MetricSpec>> = {
    'hinv.ncpu': { ...value, item: 0, type: 'u32', units: 'none', value: () => processors },
    'kernel.percpu.cpu.user': {
      ...counter,
      item: 1,
      units: 'millisec',
      indom: cpus,
      value: (inst: number) => fetches * 200 * (inst + 1),
    },
    'kernel.percpu.cpu.sys': {
      ...counter,
      item: 2,
      units: 'millisec',
      indom: cpus,
      value: () => fetches * 100,
    },
    'mem.freemem': { ...value, item: 3, type: 'u64', units: 'Kbyte', value: () => 1024 * fetches },
    'disk.all.total': { ...counter, item: 4, units: 'count', value: () => fetches * 31 },
    'kernel.all.load': {
      ...value,
      item: 5,
      type: 'float',
      units: 'none',
      indom: averages,
      value: (inst: number) => (inst === 1 ? 0.5 : new PcpError('PM_ERR_VALUE')),
    },
  }
  const kept = Object.fromEntries(Object.entries(metrics).filter(([name]) => name !== missing))
  const agent = openAgent(defineAgent({ name: 'host', domain: 60, metrics: kept }))
  return overrideSource(agent, {
    fetch: async (ids, ask) => {
      fetches++
      return { ...(await agent.fetch(ids, ask)), timestamp: { sec: 2 * fetches, nsec: 0 } }
    },
  })
}

test('shows a row for each sample, with rates', async () => {
  const { status, stdout, stderr } = await runTool(tool, ['-s', '2', '-t', '0.01'], host(2))
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  const [heading, ...lines] = stdout.split('\n')
  expect(heading).toMatch(/^Host: testhost, 2 cpu\(s\), Thu Jan {2}1 00:00:\d\d 1970$/)
  expect(lines.slice(0, 2)).toEqual([
    '  CPU  Busy    Busy  Free Mem   Disk     Load Average',
    ' Util   CPU    Util  (Mbytes)   IOPS    1 Min  15 Min',
  ])
  for (const row of lines.slice(2, 4))
    expect(row).toMatch(/^ 0\.20 {5}1 {4}0\.25 {5}\d\.000 {5}15 {5}0\.50 {8}\?$/)
  expect(lines.length).toBe(5)
})

test('one processor is not compared with others, and every fifteen rows have a heading', async () => {
  const { stdout } = await runTool(tool, ['-s', '16', '-t', '0.002'], host(1))
  expect(stdout.match(/^Host: /gm)).toHaveLength(2)
  expect(stdout).toContain(
    '\n  CPU  Free Mem   Disk     Load Average\n Util  (Mbytes)   IOPS    1 Min  15 Min\n 0.15     ',
  )
})

test('a missing metric is reported', async () => {
  expect(await runTool(tool, ['-s', '1'], host(1, 'disk.all.total'))).toEqual({
    status: 1,
    stdout: '',
    stderr:
      'pmclient: cannot retrieve description for metric "disk.all.total" (PMID: PM_ID_NULL)\nReason: Unknown or illegal metric identifier\n',
  })
})

test('only archives are paused', async () => {
  expect((await runTool(tool, ['-P'], host(1))).stderr).toBe(
    'pmclient: pause can only be used with archives\n',
  )
})
