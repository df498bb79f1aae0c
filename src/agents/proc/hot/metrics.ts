/** hotproc: processes that match a predicate, and the shares of CPU time. docs/reference/agents/proc.md */
import { statSync } from 'node:fs'
import { PcpError } from '../../../model/errors.ts'
import type { Ask } from '../../../model/source.ts'
import type { Value } from '../../../model/values.ts'
import type { IndomSpec } from '../../../pmda/define.ts'
import { readSmallFile, rooted } from '../../../sys/proc.ts'
import type { OrderedRow } from '../../lib/name-order.ts'
import type { ProcContext } from '../context.ts'
import { canonicalName, type ProcessList } from '../process-list.ts'
import { parsePredicate } from './predicate.ts'
import type { HotSampler } from './sampler.ts'

/** The instance domain of hot processes. */
export function hotDomain(ctx: ProcContext, list: ProcessList, sampler: HotSampler): IndomSpec {
  return {
    serial: 39,
    isPerRequester: true,
    canonicalName,
    instances: (ask) => {
      // whether a process is hot may depend on data hidden from guests, such as bytes written
      ctx.checkIsKnown(ask)
      sampler.refresh()
      const hot = sampler.hot
      if (hot.size === 0) return { ids: [], names: [] }
      const alive = new Set(list.all())
      return list.named([...hot.keys()].filter((pid) => alive.has(pid)))
    },
    help: 'Hot processes: those that match the predicate in hotproc.control.config',
    text: 'Names and identifiers are those of proc. Hot processes are determined every hotproc.control.refresh seconds, and the busiest ones also for a fetch after half of that.',
    instanceLabels: (inst) => ({ pid: inst }),
  }
}

/** The predicate's file, read at the start. */
export class HotConfig {
  readonly #ctx: ProcContext
  readonly #sampler: HotSampler
  /** Incremented with each accepted predicate; 0 without one. */
  generation = 0

  constructor(ctx: ProcContext, sampler: HotSampler) {
    this.#ctx = ctx
    this.#sampler = sampler
  }

  /** Sets the predicate. PM_ERR_BADSTORE if it is invalid; the old one is kept. */
  set(text: string): void {
    const predicate = parsePredicate(text)
    this.generation = predicate === undefined ? 0 : this.generation + 1
    this.#sampler.predicate = predicate
  }

  /** Reads the file again, if it exists and only its owner can write it. */
  reload(): void {
    const { env, root } = this.#ctx
    const dir = env.env['PCP_PMDAS_DIR']
    if (dir === undefined) return
    const path = `${dir}/proc/hotproc.conf`
    const found = statSync(rooted(root, path), { throwIfNoEntry: false })
    if (found === undefined) return
    if ((found.mode & 0o002) !== 0) {
      env.log('warning', `${path} is world-writable and therefore ignored: chmod o-w`)
      return
    }
    try {
      this.set(readSmallFile(root, path))
    } catch (error) {
      env.log('error', `${path}: ${PcpError.from(error).message}`)
    }
  }
}

/** The metrics of clusters 52 (the number), 60 and 61. */
export function hotMetrics(
  ctx: ProcContext,
  indom: IndomSpec,
  sampler: HotSampler,
  config: HotConfig,
): { [name: string]: OrderedRow } {
  return {
    'hotproc.nprocs': {
      cluster: 52,
      item: 99,
      type: 'u32',
      sem: 'instant',
      units: 'none',
      help: 'Number of hot processes',
      text: 'As of the last sample.',
      value: () => sampler.hot.size,
    },
    ...controlMetrics(sampler, config),
    ...totalMetrics(sampler),
    ...predicateMetrics(ctx, indom, sampler),
  }
}

function controlMetrics(sampler: HotSampler, config: HotConfig): { [name: string]: OrderedRow } {
  const from = { cluster: 60, sem: 'instant', units: 'none' } as const
  return {
    'hotproc.control.refresh': {
      ...from,
      item: 1,
      type: 'u32',
      help: 'Seconds between two samples of all processes; root may store it',
      text: 'Rates in predicates are averages over this time.',
      value: () => sampler.refreshSec,
      store: (value, _inst, ask) => {
        checkIsRoot(ask)
        if (typeof value !== 'number' || value < 1 || value > MAX_REFRESH)
          throw new PcpError(
            'PM_ERR_BADSTORE',
            `${String(value)} must be a number of seconds from 1 to ${MAX_REFRESH}`,
          )
        sampler.refreshSec = value
      },
    },
    'hotproc.control.config': {
      ...from,
      item: 8,
      type: 'string',
      help: 'Predicate that selects hot processes; root may store another',
      text: 'Written with all parentheses; empty without a predicate.',
      value: () => sampler.predicate?.text ?? '',
      store: (value, _inst, ask) => {
        checkIsRoot(ask)
        config.set(textIn(value))
      },
    },
    'hotproc.control.config_gen': {
      ...from,
      item: 9,
      type: 'u32',
      help: 'Number of predicates set since there last was none',
      text: '0 without a predicate. After a change rates start again.',
      value: () => config.generation,
    },
    'hotproc.control.reload_config': {
      ...from,
      item: 10,
      type: 'u32',
      help: 'Storing anything here as root reads the predicate from its file again',
      text: 'The file is hotproc.conf in the directory of the proc agent. The value is always 0.',
      value: () => 0,
      store: (_value, _inst, ask) => {
        checkIsRoot(ask)
        config.reload()
      },
    },
  }
}

const MAX_REFRESH = 86_400

function checkIsRoot(ask: Ask): void {
  if (ask.requester.credentials?.uid !== 0)
    throw new PcpError('PM_ERR_PERMISSION', 'Only root may set the predicate')
}

function textIn(value: Value): string {
  if (typeof value !== 'string') throw new PcpError('PM_ERR_BADSTORE', 'The predicate must be a text')
  return value
}

function totalMetrics(sampler: HotSampler): { [name: string]: OrderedRow } {
  const from = { cluster: 60, type: 'float', sem: 'instant', units: 'none' } as const
  const text = 'In seconds per second, so that 1 is one CPU; as of the last sample.'
  const other = (): number => sampler.totals.transient + sampler.totals.notCpuburn
  return {
    'hotproc.total.cpuidle': {
      ...from,
      item: 2,
      help: 'Idle time of the CPUs',
      text,
      value: () => sampler.totals.cpuidle,
    },
    'hotproc.total.cpuburn': {
      ...from,
      item: 3,
      help: 'CPU time of hot processes',
      text,
      value: () => sampler.totals.cpuburn,
    },
    'hotproc.total.cpuother.transient': {
      ...from,
      item: 4,
      help: 'CPU time not accounted to any process: of processes that ended between samples, and of interrupts',
      text,
      value: () => sampler.totals.transient,
    },
    'hotproc.total.cpuother.not_cpuburn': {
      ...from,
      item: 5,
      help: 'CPU time of other processes',
      text,
      value: () => sampler.totals.notCpuburn,
    },
    'hotproc.total.cpuother.total': {
      ...from,
      item: 6,
      help: 'CPU time not used by hot processes: of other processes or unaccounted',
      text,
      value: other,
    },
    'hotproc.total.cpuother.percent': {
      ...from,
      item: 7,
      help: 'Share of busy CPU time not used by hot processes, in per cent',
      text: '0 when no time was used.',
      value: () => {
        const all = other() + sampler.totals.cpuburn
        return all === 0 ? 0 : (other() * 100) / all
      },
    },
  }
}

type Rate = 'ctxswitch' | 'virtualsize' | 'residentsize' | 'iodemand' | 'iowait' | 'schedwait' | 'cpuburn'

const PREDICATES: readonly (readonly [
  name: Rate,
  item: number,
  type: 'float' | 'u32',
  units: string,
  help: string,
])[] = [
  ['ctxswitch', 1, 'float', 'count / sec', 'Context switches per second of a hot process'],
  ['virtualsize', 2, 'u32', 'Kbyte', 'Address space of a hot process'],
  ['residentsize', 3, 'u32', 'Kbyte', 'Resident memory of a hot process'],
  ['iodemand', 4, 'float', 'Kbyte / sec', 'Disk reads and writes of a hot process'],
  ['iowait', 5, 'float', 'none', 'Share of time a hot process waited for disks'],
  ['schedwait', 6, 'float', 'none', 'Share of time a hot process waited for a CPU'],
  ['cpuburn', 7, 'float', 'none', 'CPU time of a hot process, in seconds per second'],
]

function predicateMetrics(
  ctx: ProcContext,
  indom: IndomSpec,
  sampler: HotSampler,
): { [name: string]: OrderedRow } {
  const metrics: { [name: string]: OrderedRow } = {}
  for (const [name, item, type, units, help] of PREDICATES)
    metrics[`hotproc.predicate.${name}`] = {
      cluster: 61,
      item,
      type,
      sem: 'instant',
      units,
      indom,
      help,
      text: `The value of ${name} in the predicate${name === 'iodemand' ? ', where it is in bytes a second' : ''}; as of the last sample.`,
      begin: ctx.checkIsKnown,
      value: (inst) => rateOf(sampler, inst, name),
    }
  return metrics
}

/** Facts that are known without a sample before. */
const LEVELS: readonly Rate[] = ['virtualsize', 'residentsize']

/** No value where the kernel provides none. PCP 6.0.3 exports bytes per second as if they were KB. */
function rateOf(sampler: HotSampler, inst: number, name: Rate): number | undefined {
  if (!sampler.hasRates && !LEVELS.includes(name)) return undefined
  const value = sampler.hot.get(inst)?.[name]
  if (value === undefined || Number.isNaN(value)) return undefined
  return name === 'iodemand' ? value / 1024 : value
}
