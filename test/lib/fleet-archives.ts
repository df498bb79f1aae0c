/** Archives of a fleet: hosts with predictable health. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { createArchive } from '../../src/archive.ts'
import { indom, pmid } from '../../src/model/ids.ts'
import {
  PM_SEM_COUNTER,
  PM_SEM_DISCRETE,
  PM_SEM_INSTANT,
  PM_TYPE_DOUBLE,
  PM_TYPE_U32,
  PM_TYPE_U64,
} from '../../src/model/types.ts'

/** Seconds since the epoch of the first sample. */
export const FLEET_START = 1_700_000_000

/** What a host's archive has. */
export interface FleetHost {
  readonly name: string
  readonly labels?: Readonly<Record<string, unknown>>
  /** Busy share of its CPUs at a sample; default 0.2. */
  readonly busy?: (sample: number) => number
  /** Per cent in use of its root file system; default 40. */
  readonly full?: number
  readonly samples?: number
  /** Seconds between samples; default 10. */
  readonly every?: number
  readonly start?: number
  /** Samples that are missing because recording was interrupted. */
  readonly gap?: { readonly from: number; readonly to: number }
  /** Metrics it does not record. */
  readonly without?: readonly string[]
  /** Name of the archive in the directory of the host. */
  readonly file?: string
  /** Further instant metrics `extra.N`, as ballast of benchmarks. */
  readonly extra?: number
}

const CPUS = 4
const PHYSMEM = 8_000_000
const LOAD = indom(60, 2)
const FILES = indom(60, 5)
const MS = 'millisec'

const CPU_MODES = { user: 20, nice: 21, sys: 22, idle: 23, 'wait.total': 35, intr: 34, steal: 55 }

/** Writes an archive below `directory`; returns its base name. */
export function writeFleetHost(directory: string, host: FleetHost): string {
  const { name, samples = 30, every = 10, start = FLEET_START, gap, without = [], extra = 0 } = host
  const { busy = () => 0.2, full = 40 } = host
  mkdirSync(join(directory, name), { recursive: true })
  const base = join(directory, name, host.file ?? 'day1')
  const made = createArchive(base, { hostname: name, timezone: 'UTC' })
  made.addLabels({ hostname: name, ...host.labels })
  const add = (metric: string, cluster: number, item: number, rest: object): void => {
    if (!without.includes(metric)) made.addMetric(metric, { pmid: pmid(60, cluster, item), ...rest })
  }
  const put = (metric: string, value: number, instance?: string): void => {
    if (!without.includes(metric)) made.put(metric, value, instance)
  }
  for (const [mode, item] of Object.entries(CPU_MODES))
    add(`kernel.all.cpu.${mode}`, 0, item, { type: PM_TYPE_U64, sem: PM_SEM_COUNTER, units: MS })
  add('kernel.all.load', 2, 0, { type: PM_TYPE_DOUBLE, sem: PM_SEM_INSTANT, units: '', indom: LOAD })
  add('hinv.ncpu', 0, 32, { type: PM_TYPE_U32, sem: PM_SEM_DISCRETE, units: '' })
  add('mem.physmem', 1, 0, { type: PM_TYPE_U64, sem: PM_SEM_DISCRETE, units: 'Kbyte' })
  add('mem.util.available', 1, 58, { type: PM_TYPE_U64, sem: PM_SEM_INSTANT, units: 'Kbyte' })
  add('filesys.full', 5, 8, { type: PM_TYPE_DOUBLE, sem: PM_SEM_INSTANT, units: '', indom: FILES })
  for (let i = 0; i < extra; i++)
    made.addMetric(`extra.n${i}`, {
      pmid: pmid(77, 1, i),
      type: PM_TYPE_U64,
      sem: PM_SEM_INSTANT,
      units: 'byte',
    })
  const used = { busy: 0, idle: 0 }
  for (let i = 0; i < samples; i++) {
    const share = busy(i)
    used.busy += share * CPUS * every * 1000
    used.idle += (1 - share) * CPUS * every * 1000
    if (gap !== undefined && i >= gap.from && i < gap.to) continue
    if (gap !== undefined && i === gap.to) made.mark()
    if (i === 0) {
      put('hinv.ncpu', CPUS)
      put('mem.physmem', PHYSMEM)
    }
    put('kernel.all.cpu.user', Math.round(used.busy))
    put('kernel.all.cpu.idle', Math.round(used.idle))
    for (const mode of ['nice', 'sys', 'wait.total', 'intr', 'steal']) put(`kernel.all.cpu.${mode}`, 0)
    for (const load of ['1 minute', '5 minute', '15 minute']) put('kernel.all.load', CPUS * share, load)
    put('mem.util.available', PHYSMEM / 2)
    put('filesys.full', full, '/dev/vda1')
    put('filesys.full', full / 2, '/dev/vdb1')
    for (let j = 0; j < extra; j++) made.put(`extra.n${j}`, 1000 * i + j)
    made.write({ sec: start + every * i, nsec: 0 })
  }
  made.close()
  return base
}

/** Writes `count` hosts `node-0001`, ... of three environments; every tenth is busy, and the last has stopped recording early. */
export function writeFleet(directory: string, count: number, common: Partial<FleetHost> = {}): void {
  for (let i = 1; i <= count; i++) {
    const phase = i / 7
    writeFleetHost(directory, {
      name: `node-${String(i).padStart(4, '0')}`,
      labels: { env: ['prod', 'test', 'dev'][i % 3], rack: `r${i % 20}` },
      busy: i % 10 === 0 ? () => 0.97 : (sample) => 0.3 + 0.2 * Math.sin(phase + sample / 10),
      full: i % 50 === 0 ? 96 : 20 + (i % 50),
      ...common,
      ...(i === count && common.samples !== undefined
        ? { samples: Math.max(2, Math.floor(common.samples / 2)) }
        : {}),
    })
  }
}
