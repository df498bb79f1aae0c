/** The metrics that `npm start` records are sufficient for the commands that summarise a machine. */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { agent } from '../../src/agents/root/index.ts'
import { ArchiveImport } from '../../src/archive/import/archive-import.ts'
import { memoryOutput } from '../../src/archive/write/memory-output.ts'
import { indom, indomStr } from '../../src/model/ids.ts'
import { PM_SEM_DISCRETE, PM_TYPE_STRING } from '../../src/model/types.ts'
import { openAgent } from '../../src/pmda/open-agent.ts'
import { parseLoggerConfig } from '../../src/pmlogger/config.ts'
import { METRICS } from '../../src/tools/pmclient/activity.ts'
import { eventQuery } from '../../src/ui/annotations/events.ts'
import { instanceNames } from '../../src/ui/data/instance-names.ts'
import { LocalArchive } from '../../src/ui/data/local-archive.ts'
import type { Source } from '../../src/ui/data/source.ts'

const config = readFileSync(new URL('../../share/pmlogger/config.default', import.meta.url), 'utf8')
const recorded = Array.from(config.matchAll(/^ {4}([a-z][\w.]*)$/gm), ([, name]) => name!)
const isRecorded = (name: string): boolean =>
  recorded.some((node) => name === node || name.startsWith(`${node}.`))

test.each(METRICS)('pmclient -a finds %s', (name) => {
  expect(isRecorded(name)).toBe(true)
})

test.each(eventQuery({ from: 0, to: 1 }).names)('the page finds events in %s', (name) => {
  expect(isRecorded(name)).toBe(true)
})

test('no metric is in two statements', () => {
  const below = recorded.filter((name) =>
    recorded.some((other) => other !== name && name.startsWith(`${other}.`)),
  )
  expect([below, new Set(recorded).size]).toEqual([[], recorded.length])
})

test('every recorded metric of containers exists', async () => {
  const source = openAgent(agent)
  const known = new Set([...source.names()].map(([name]) => name))
  await source.close()
  const ofContainers = recorded.filter((name) => name.startsWith('containers.'))
  expect(ofContainers.length).toBeGreaterThan(20)
  expect(ofContainers.filter((name) => !known.has(name))).toEqual([])
})

test('a file system that is mounted later has the name of its mount point in the archive', async () => {
  const { statements } = parseLoggerConfig(config, 'config.default')
  const deltaOf = (name: string): number =>
    statements.find(({ metrics }) => metrics.some((metric) => metric.name === name))!.deltaMs! / 1000
  const output = memoryOutput('a')
  const made = new ArchiveImport(output, { hostname: 'h', timezone: 'UTC', pid: 1 })
  const mounts = indom(60, 5)
  made.addMetric('filesys.full', { indom: mounts })
  made.addMetric('filesys.mountdir', { type: PM_TYPE_STRING, sem: PM_SEM_DISCRETE, indom: mounts })
  const [mounted, end] = [95, 600]
  for (let sec = 0; sec <= end; sec++)
    for (const name of ['filesys.full', 'filesys.mountdir']) {
      // "once" is an interval of 0.
      if (sec % (deltaOf(name) || end + 1) > 0) continue
      for (const [device, directory] of [['/dev/vda', '/'], ...(sec < mounted ? [] : [['/dev/vdb', '/srv']])])
        made.put(name, name === 'filesys.full' ? 50 : directory!, device!)
      made.write({ sec: 1_700_000_000 + sec, nsec: 0 })
    }
  made.close()
  const files = [...output.contents()].map(([part, bytes]) => [`a.${part}`, bytes] as const)
  const source = new LocalArchive('a', new Map(files)) as unknown as Source
  const names = instanceNames(source, indomStr(mounts))!
  const named = new Promise<void>((resolve) => names.subscribe(({ size }) => size > 0 && resolve()))
  await named
  expect([...names.value]).toEqual([
    ['/dev/vda', '/'],
    ['/dev/vdb', '/srv'],
  ])
})
