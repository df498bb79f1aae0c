/** Processor activity between two samples. pcp-mpstat(1) */
import { secondsBetween } from '../../base/timestamp.ts'
import { isError, PcpError } from '../../model/errors.ts'
import type { Pmid } from '../../model/ids.ts'
import type { CallOptions, Context } from '../../pmapi/context.ts'
import { CPU_COUNT, MACHINE_METRICS } from '../lib/sampled/machine-line.ts'
import type { Sample } from '../lib/sampled/metrics.ts'
import type { Interrupts, MpstatOptions } from './options.ts'

const NUMBERS = 'hinv.map.cpu_num'
const ONLINE = 'hinv.cpu.online'
const ALL_INTERRUPTS = 'kernel.all.intr'
const PROCESSOR_INTERRUPTS = 'kernel.percpu.intr'

/** Modes of processor time, in column order. */
const SHARES = [
  'user',
  'nice',
  'sys',
  'wait.total',
  'irq.hard',
  'irq.soft',
  'steal',
  'guest',
  'guest_nice',
  'idle',
]

const milliseconds = (prefix: string): readonly { readonly name: string; readonly units: string }[] =>
  SHARES.map((share) => ({ name: `${prefix}.${share}`, units: 'millisec' }))

/** Required metrics, in the order in which PCP reports missing ones. */
export const METRICS: readonly (string | { readonly name: string; readonly units: string })[] = [
  ...MACHINE_METRICS.filter((name) => name !== CPU_COUNT),
  NUMBERS,
  CPU_COUNT,
  ONLINE,
  ...milliseconds('kernel.all.cpu'),
  ...milliseconds('kernel.percpu.cpu'),
  ALL_INTERRUPTS,
  PROCESSOR_INTERRUPTS,
]

/** Metrics of interrupts, with the names of their columns. */
export interface InterruptMetrics {
  readonly metrics: readonly string[]
  readonly columns: readonly string[]
  /** Returns metric and instance of a column for a processor. */
  readonly place: (
    column: number,
    inst: number | undefined,
  ) => readonly [metric: string, inst: number | undefined]
}

const GROUPS: Readonly<Record<Exclude<Interrupts, 'SUM'>, string>> = {
  CPU: 'kernel.percpu.interrupts',
  SCPU: 'kernel.percpu.softirqs',
}

/**
 * Finds the interrupts of a source: metrics below a group, in reverse order of the name space, or instances `INTERRUPT::cpuN` of the
 * group. Empty if it has none.
 */
export async function interruptsOf(
  context: Context,
  kind: Exclude<Interrupts, 'SUM'>,
  options?: CallOptions,
): Promise<InterruptMetrics> {
  const group = GROUPS[kind]
  const [id] = await context.lookupNames([group], options)
  if (id !== undefined && !isError(id)) return instancesOf(context, group, id, options)
  const isNode = id !== undefined && isError(id) && id.code === 'PM_ERR_NONLEAF'
  const metrics = (isNode ? await namesBelow(context, group, options) : []).reverse()
  const columns = metrics.map((name) => name.slice(group.length + 1).replace(/^line(?=\d)/, ''))
  return { metrics, columns, place: (column, inst) => [metrics[column]!, inst] }
}

async function instancesOf(
  context: Context,
  group: string,
  id: Pmid,
  options?: CallOptions,
): Promise<InterruptMetrics> {
  const [desc] = await context.descs([id], options)
  const { ids, names } =
    desc === undefined || isError(desc)
      ? { ids: [], names: [] }
      : (context.archive?.instances(desc.indom) ?? (await context.instances(desc.indom, options)))
  const insts = new Map(Array.from(names, (name, i) => [name, ids[i]!]))
  const columns = [...new Set(Array.from(names, (name) => name.replace(/::cpu\d+$/, '')))]
  return {
    metrics: [group],
    columns,
    // An instance that does not exist has no value.
    place: (column, inst) => [group, insts.get(`${columns[column]}::cpu${inst}`) ?? NOBODY],
  }
}

/** PM_IN_NULL, which no instance domain contains. */
const NOBODY = -1

async function namesBelow(context: Context, group: string, options?: CallOptions): Promise<string[]> {
  try {
    return [...(await context.traverse(group, options))]
  } catch (error) {
    if (error instanceof PcpError && error.code === 'PM_ERR_NAME') return []
    throw error
  }
}

/** A processor, with its instance in samples. */
export interface Processor {
  readonly number: number
  readonly inst: number
}

/** Returns the selected processors, in order. */
export function processorsOf(now: Sample, wanted: MpstatOptions['processors']): readonly Processor[] {
  const all = [...now.numbers(NUMBERS)].map(([inst, number]) => ({ inst, number }))
  all.sort((a, b) => a.number - b.number)
  if (wanted === 'ON') return all.filter(({ inst }) => now.number(ONLINE, inst) !== 0)
  if (wanted === undefined || wanted === 'ALL') return all
  return all.filter(({ number }) => wanted.has(number))
}

/** Growth of counters between two samples; undefined without a value, or if a counter restarted. */
export class Changes {
  readonly #before: Sample
  readonly #now: Sample
  readonly #seconds: number

  constructor(before: Sample, now: Sample) {
    this.#before = before
    this.#now = now
    this.#seconds = secondsBetween(before.time, now.time)
  }

  /** Returns a rate; `inst` as in a sample. */
  rate(name: string, inst?: number): number | undefined {
    const growth = this.#now.growth(this.#before, name, inst)
    return growth === undefined ? undefined : growth / this.#seconds
  }

  /** Returns percentages of time by mode, of a processor or of all. */
  shares(inst: number | undefined): readonly (number | undefined)[] {
    const prefix = inst === undefined ? 'kernel.all.cpu' : 'kernel.percpu.cpu'
    const processors = inst === undefined ? this.#now.number(CPU_COUNT) : 1
    return SHARES.map((share) => {
      const growth = this.#now.growth(this.#before, `${prefix}.${share}`, inst)
      if (growth === undefined || processors === undefined) return undefined
      return (100 * growth) / (1000 * this.#seconds) / processors
    })
  }

  /** Returns interrupts a second, of a processor or of all. */
  interrupts(inst: number | undefined): number | undefined {
    return inst === undefined ? this.rate(ALL_INTERRUPTS) : this.rate(PROCESSOR_INTERRUPTS, inst)
  }
}
