/** The default rules: each is true on a made-up archive with its trouble, and none on a quiet one. */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { DEFAULT_RULES } from '../../src/alerts/default-rules.ts'
import { rulesText } from '../../src/alerts/rule.ts'
import { ArchiveImport } from '../../src/archive/import/archive-import.ts'
import { memoryOutput } from '../../src/archive/write/memory-output.ts'
import { bytesSource } from '../../src/base/byte-source.ts'
import { PM_SEM_COUNTER, PM_SEM_INSTANT, PM_TYPE_DOUBLE, PM_TYPE_U64 } from '../../src/model/types.ts'
import { openArchive } from '../../src/pmapi/archive.ts'
import { newCounts } from '../../src/pmie/replay-run.ts'
import { archiveHosts } from '../../src/rules/hosts.ts'
import { loadRules } from '../../src/rules/load.ts'
import { replay } from '../../src/rules/replay.ts'
import { UTC } from '../../src/time/zone.ts'
import { PAGES } from '../../src/ui/view/built-in.ts'

const START = 1_700_000_000
/** Length of the archives in seconds, and distance of samples. */
const [LENGTH, STEP] = [400, 10]

type Values = Readonly<Record<string, number>>

/** Levels of a healthy host of two CPUs, by instance; '' without instances. */
const LEVELS: Readonly<Record<string, readonly [units: string, values: Values]>> = {
  'hinv.ncpu': ['none', { '': 2 }],
  'kernel.all.load': ['none', { '1 minute': 1, '5 minute': 1 }],
  'kernel.all.pressure.cpu.some.avg': ['none', { '1 minute': 5, '5 minute': 5 }],
  'kernel.all.pressure.memory.full.avg': ['none', { '1 minute': 0 }],
  'kernel.all.pressure.io.full.avg': ['none', { '1 minute': 1 }],
  'mem.physmem': ['Kbyte', { '': 16e6 }],
  'mem.util.available': ['Kbyte', { '': 8e6 }],
  'swap.length': ['byte', { '': 2e9 }],
  'swap.free': ['byte', { '': 1.9e9 }],
  'network.interface.baudrate': ['byte / sec', { eth0: 125e6 }],
  'vfs.files.count': ['none', { '': 5000 }],
  'vfs.files.max': ['none', { '': 100_000 }],
  'pmcd.agent.status': ['none', { linux: 0, proc: 0 }],
  'filesys.full': ['none', { '/dev/sda1': 40, '/dev/loop0': 100 }],
  'filesys.avail': ['Kbyte', { '/dev/sda1': 200e6, '/dev/loop0': 0 }],
  'filesys.readonly': ['none', { '/dev/sda1': 0, '/dev/loop0': 1 }],
  'filesys.usedfiles': ['none', { '/dev/sda1': 1e5, '/dev/loop0': 100 }],
  'filesys.maxfiles': ['none', { '/dev/sda1': 1e6, '/dev/loop0': 100 }],
}

/** Increase a second of its counters. */
const RATES: typeof LEVELS = {
  'kernel.all.cpu.idle': ['millisec', { '': 1800 }],
  'kernel.all.cpu.wait.total': ['millisec', { '': 20 }],
  'kernel.all.cpu.steal': ['millisec', { '': 0 }],
  'kernel.percpu.cpu.idle': ['millisec', { cpu0: 900, cpu1: 900 }],
  'kernel.percpu.cpu.wait.total': ['millisec', { cpu0: 10, cpu1: 10 }],
  'swap.pagesin': ['count', { '': 1 }],
  'swap.pagesout': ['count', { '': 0 }],
  'mem.vmstat.oom_kill': ['count', { '': 0 }],
  'disk.dev.read_rawactive': ['millisec', { sda: 40, sdb: 0 }],
  'disk.dev.write_rawactive': ['millisec', { sda: 60, sdb: 0 }],
  'disk.dev.total': ['count', { sda: 50, sdb: 0 }],
  'disk.dev.avactive': ['millisec', { sda: 100, sdb: 0 }],
  'network.interface.in.errors': ['count', { eth0: 0 }],
  'network.interface.out.errors': ['count', { eth0: 0 }],
  'network.interface.in.drops': ['count', { eth0: 1 }],
  'network.interface.out.drops': ['count', { eth0: 0 }],
  'network.interface.total.bytes': ['byte', { eth0: 1e6 }],
  'network.tcp.retranssegs': ['count', { '': 1 }],
  'network.tcp.outsegs': ['count', { '': 1000 }],
  'network.tcp.listenoverflows': ['count', { '': 0 }],
}

/** The different levels or rates of each trouble. */
const TROUBLES: Readonly<Record<string, Readonly<Record<string, Values>>>> = {
  'cpu.busy': { 'kernel.all.cpu.idle': { '': 20 } },
  'cpu.one_saturated': {
    'kernel.percpu.cpu.idle': { cpu0: 0, cpu1: 900 },
    'kernel.percpu.cpu.wait.total': { cpu0: 0, cpu1: 10 },
  },
  'cpu.load': { 'kernel.all.load': { '1 minute': 9, '5 minute': 8 } },
  'cpu.pressure': { 'kernel.all.pressure.cpu.some.avg': { '1 minute': 90, '5 minute': 90 } },
  'cpu.steal': { 'kernel.all.cpu.steal': { '': 400 } },
  'memory.low': { 'mem.util.available': { '': 5e5 } },
  'memory.pressure': { 'kernel.all.pressure.memory.full.avg': { '1 minute': 30 } },
  'memory.swapping': { 'swap.pagesin': { '': 300 }, 'swap.pagesout': { '': 400 } },
  'memory.swap_full': { 'swap.free': { '': 1e7 } },
  'memory.oom_kill': { 'mem.vmstat.oom_kill': { '': 0.1 } },
  'disk.slow': { 'disk.dev.write_rawactive': { sda: 9000, sdb: 0 } },
  'disk.busy': { 'disk.dev.avactive': { sda: 1000, sdb: 0 } },
  'disk.pressure': { 'kernel.all.pressure.io.full.avg': { '1 minute': 60 } },
  'network.errors': { 'network.interface.in.errors': { eth0: 5 } },
  'network.drops': { 'network.interface.out.drops': { eth0: 50 } },
  'network.saturated': { 'network.interface.total.bytes': { eth0: 120e6 } },
  'tcp.retransmits': { 'network.tcp.retranssegs': { '': 100 } },
  'tcp.listen_overflows': { 'network.tcp.listenoverflows': { '': 3 } },
  'files.open': { 'vfs.files.count': { '': 90_000 } },
  'collector.agent': { 'pmcd.agent.status': { linux: 0, proc: -12_386 } },
  'filesys.filling': {
    'filesys.full': { '/dev/sda1': 93, '/dev/loop0': 100 },
    'filesys.avail': { '/dev/sda1': 10e6, '/dev/loop0': 0 },
  },
  'filesys.full': {
    'filesys.full': { '/dev/sda1': 99.5, '/dev/loop0': 100 },
    'filesys.avail': { '/dev/sda1': 1e6, '/dev/loop0': 0 },
  },
  'filesys.inodes': { 'filesys.usedfiles': { '/dev/sda1': 990_000, '/dev/loop0': 100 } },
}

/** Rules that a trouble makes true besides its own. */
const TOO: Readonly<Record<string, readonly string[]>> = { 'filesys.full': ['filesys.filling'] }

/** Returns the files of an archive in which the trouble lasts from its 60th second, for `lasts` seconds. */
function recorded(trouble: Readonly<Record<string, Values>>, lasts: number): ReadonlyMap<string, Uint8Array> {
  const output = memoryOutput('made')
  const made = new ArchiveImport(output, { hostname: 'made', timezone: 'UTC', pid: 1 })
  const all = [
    ...Object.entries(LEVELS).map(([name, entry]) => ({ name, entry, isCounter: false })),
    ...Object.entries(RATES).map(([name, entry]) => ({ name, entry, isCounter: true })),
  ]
  for (const { name, entry, isCounter } of all)
    made.addMetric(name, {
      type: isCounter ? PM_TYPE_U64 : PM_TYPE_DOUBLE,
      sem: isCounter ? PM_SEM_COUNTER : PM_SEM_INSTANT,
      ...(entry[0] === 'none' ? {} : { units: entry[0] }),
      ...('' in entry[1] ? {} : { indom: `of ${name}` }),
    })
  const sums = new Map<string, number>()
  for (let t = 0; t <= LENGTH; t += STEP) {
    const isBad = t > 60 && t <= 60 + lasts
    for (const { name, entry, isCounter } of all)
      for (const [instance, usual] of Object.entries(entry[1])) {
        const value = (isBad ? trouble[name]?.[instance] : undefined) ?? usual
        const key = `${name} ${instance}`
        const sum = (sums.get(key) ?? 0) + value * STEP
        sums.set(key, sum)
        const given = isCounter ? BigInt(Math.round(sum)) : value
        if (instance === '') made.put(name, given)
        else made.put(name, given, instance)
      }
    made.write({ sec: START + t, nsec: 0 })
  }
  made.close()
  return new Map([...output.contents()].map(([part, bytes]) => [`made.${part}`, bytes]))
}

/** Returns the rules that were true, with what they printed last. */
async function firingsIn(files: ReadonlyMap<string, Uint8Array>): Promise<Map<string, string>> {
  const context = await openArchive('made', {
    files: {
      isDirectory: (path) => path === '.',
      list: () => [...files.keys()],
      open: (path) => bytesSource(files.get(path.replace(/^\.\//, ''))!),
    },
    env: {},
  })
  const problems: string[] = []
  const { signal } = new AbortController()
  const reporter = {
    print: (line: string) => problems.push(line),
    log: (_: string, line: string) => problems.push(line),
  }
  const hosts = archiveHosts([{ name: 'made', context }])
  const text = rulesText(DEFAULT_RULES)
  const rules = await loadRules([{ name: 'default', text }], 10, {
    hosts,
    reporter,
    zone: UTC,
    signal,
    showsPlaces: true,
  })
  expect(problems).toEqual([])
  expect(rules.dropped).toBe(0)
  const fired = new Map<string, string>()
  const window = { origin: { sec: START, nsec: 0 }, finish: { sec: START + LENGTH, nsec: 0 } }
  const turn = { shouldYield: () => false, yield: async () => undefined }
  await replay(rules.tasks, window, signal, turn, (task, { sec }) =>
    task.evaluate(sec, {
      counts: newCounts(),
      file: 'default',
      perform: ({ rule, message }) => {
        fired.set(rule, message)
        return true
      },
    }),
  )
  await context.close()
  return fired
}

test('no rule is true on a quiet host', async () => {
  expect([...(await firingsIn(recorded({}, LENGTH)))]).toEqual([])
})

test('every rule has a trouble here', () => {
  expect(Object.keys(TROUBLES)).toEqual(DEFAULT_RULES.map(({ name }) => name))
})

for (const { name, condition } of DEFAULT_RULES) {
  test(`${name} is true while its trouble lasts`, async () => {
    const fired = await firingsIn(recorded(TROUBLES[name]!, LENGTH))
    expect([...fired.keys()].sort()).toEqual([name, ...(TOO[name] ?? [])].sort())
    const instances = { disk: 'sda', network: 'eth0', filesys: '/dev/sda1' }
    const instance = Object.entries(instances).find(([group]) => name.startsWith(`${group}.`))?.[1]
    if (condition.startsWith('some_inst') && instance !== undefined) {
      expect(fired.get(name)).toContain(`${instance} `)
      expect(fired.get(name)).not.toMatch(/sdb|loop0/)
    }
  })
}

test('ten seconds of trouble raise no alert, except for final events', async () => {
  const all = Object.assign({}, ...Object.values(TROUBLES)) as Readonly<Record<string, Values>>
  const fired = await firingsIn(recorded(all, STEP))
  expect([...fired.keys()]).toEqual(['memory.oom_kill'])
})

test('each rule is explained, and leads to a chart that exists', () => {
  for (const { name, title, help, next, look } of DEFAULT_RULES) {
    for (const text of [title, help, next]) expect(text, name).toMatch(/^[A-Z].{8,240}$/)
    const page = PAGES.find((each) => each.page === look.page)
    expect(
      page?.view.charts.map(({ id }) => id),
      name,
    ).toContain(look.chart)
  }
})

test('the reference lists each rule', () => {
  const text = readFileSync(new URL('../../docs/reference/alerts.md', import.meta.url), 'utf8')
  const listed = [...text.matchAll(/^\| `([\w.]+)` \| (\w+) \| (.+?) \|/gm)].map(([, ...row]) => row)
  expect(listed).toEqual(DEFAULT_RULES.map(({ name, severity, title }) => [name, severity, title]))
})
