/** Fetches samples: live, or at times of an archive. pmFetch(3) */
import { type Timestamp, toSeconds } from '../../base/timestamp.ts'
import { isError, PcpError } from '../../model/errors.ts'
import { PM_IN_NULL } from '../../model/ids.ts'
import { makeSet } from '../../model/value-writer.ts'
import type { Context } from '../../pmapi/context.ts'
import { addTimes, compareTimes } from '../../time/arithmetic.ts'
import { type Sample, SampledMetrics } from '../lib/sampled/metrics.ts'
import type { ToolIo } from '../lib/tool.ts'
import {
  EXIT_METRICS,
  GPU_TASK_METRICS,
  NET_TASK_METRICS,
  PSS_ITEM,
  SYSTEM_METRICS,
  TASK_ITEMS,
} from './metrics.ts'
import { Step } from './step.ts'
import type { TaskGroup } from './task.ts'

/** The source, and the time of the first sample. */
export interface SamplerSetup {
  readonly context: Context
  readonly group: TaskGroup
  readonly origin: Timestamp
  readonly finish: Timestamp
}

/** Fetches samples. Proportional memory sizes are expensive, so they are fetched only if `gather` requests them. */
export class Sampler {
  readonly #setup: SamplerSetup
  readonly #io: ToolIo
  #metrics: SampledMetrics
  #hasPss: boolean
  #hasThreads = false

  private constructor(setup: SamplerSetup, io: ToolIo, metrics: SampledMetrics, hasPss: boolean) {
    this.#setup = setup
    this.#io = io
    this.#metrics = metrics
    this.#hasPss = hasPss
  }

  /** Rejects with PM_ERR_GENERIC if the source has no processor metrics. */
  static async open(
    setup: SamplerSetup,
    { hasPss, hasThreads }: { readonly hasPss: boolean; readonly hasThreads: boolean },
    io: ToolIo,
  ): Promise<Sampler> {
    await setSwitch(setup.context, ACCOUNTING_SWITCH, true, io)
    const metrics = await find(setup, hasPss, io)
    if (!metrics.has('kernel.percpu.cpu.user') && !metrics.has('kernel.percpu.cpu.sys'))
      throw new PcpError('PM_ERR_GENERIC', 'no per-processor values available')
    const sampler = new Sampler(setup, io, metrics, hasPss)
    await sampler.gather(hasPss, hasThreads)
    await reportRefusal(setup, io)
    return sampler
  }

  get isArchive(): boolean {
    return this.#setup.context.archive !== undefined
  }

  /** Switches proportional sizes and threads on or off. */
  async gather(hasPss: boolean, hasThreads: boolean): Promise<void> {
    if (hasThreads !== this.#hasThreads) {
      this.#hasThreads = hasThreads
      await setSwitch(this.#setup.context, THREADS_SWITCH, hasThreads, this.#io)
    }
    if (hasPss === this.#hasPss) return
    this.#metrics = await find(this.#setup, hasPss, this.#io)
    this.#hasPss = hasPss
  }

  /** Fetches current values. Rejects as a fetch does. */
  async now(): Promise<Sample> {
    return this.#metrics.fetch(this.#io)
  }

  /** Returns the first live interval: activity since boot. */
  static sinceBoot(now: Sample): Step {
    const up = now.number('kernel.all.uptime')
    const boot = now.number('kernel.all.boottime')
    const elapsed = up ?? (boot === undefined ? 0 : toSeconds(now.time) - boot)
    return new Step(undefined, now, elapsed, { isSinceBoot: true })
  }

  /** Fetches the next live interval. */
  async stepFrom(before: Sample): Promise<Step> {
    const now = await this.now()
    return new Step(before, now, toSeconds(now.time) - toSeconds(before.time))
  }

  /** Fetches values at a time of the archive; undefined outside the window or the archive. */
  async at(time: Timestamp, intervalSec: number): Promise<Sample | undefined> {
    const { context, finish } = this.#setup
    if (compareTimes(time, finish) > 0) return undefined
    context.archive!.setMode('interpolate', time, intervalSec)
    try {
      return await this.#metrics.fetch(this.#io)
    } catch (error) {
      if (error instanceof PcpError && error.code === 'PM_ERR_EOL') return undefined
      throw error
    }
  }
}

/** Intervals of an archive by number, from 1. */
export class Replay {
  readonly #sampler: Sampler
  readonly #intervalSec: number
  readonly #origin: Timestamp
  #base: Sample | undefined
  #last: { readonly number: number; readonly sample: Sample } | undefined

  constructor(sampler: Sampler, origin: Timestamp, intervalSec: number) {
    this.#sampler = sampler
    this.#origin = origin
    this.#intervalSec = intervalSec
  }

  /**
   * Returns an interval; undefined after the last. As PCP's atop begins one interval before the origin, it treats the first interval as
   * twice as long although counters only cover it from the origin on; rates are computed the same way here.
   */
  async step(number: number): Promise<Step | undefined> {
    this.#base ??= await this.#sample(0)
    const before = this.#last?.number === number - 1 ? this.#last.sample : await this.#sample(number - 1)
    const now = await this.#sample(number)
    if (now === undefined) return undefined
    this.#last = { number, sample: now }
    const elapsed = number === 1 ? this.#intervalSec * 2 : this.#intervalSec
    return new Step(before, now, elapsed, this.#base === undefined ? {} : { base: this.#base })
  }

  #sample(number: number): Promise<Sample | undefined> {
    return this.#sampler.at(
      addTimes(this.#origin, secondsAsTime(number * this.#intervalSec)),
      this.#intervalSec,
    )
  }
}

/** Reports if the agent refuses processes to this user. */
async function reportRefusal(
  { context, group }: SamplerSetup,
  { progname, stderr, signal }: ToolIo,
): Promise<void> {
  if (context.archive !== undefined) return
  const [id] = await context.lookupNames([`${group}.psinfo.pid`], { signal })
  if (id === undefined || isError(id)) return
  const { sets } = await context.fetch([id], { signal })
  const { status } = sets[0]!
  if (status >= 0) return
  const { text } = PcpError.fromStatus(status)
  stderr.write(
    `${progname}: processes are not shown: ${text} (log in with -h HOST?user=NAME, or use the socket of this host, local:)\n`,
  )
}

/** Makes the agent export threads to this client. */
const THREADS_SWITCH = 'proc.control.perclient.threads'
/** Enables process accounting while a client needs it. */
const ACCOUNTING_SWITCH = 'acct.control.enable_acct'

/** Sets a switch of a live source. Missing permission or agents are ignored. */
async function setSwitch(context: Context, name: string, isOn: boolean, io: ToolIo): Promise<void> {
  if (context.archive !== undefined) return
  try {
    const id = await context.lookupName(name, io)
    const { type } = await context.desc(id, io)
    await context.store([makeSet(id, type, [PM_IN_NULL], [isOn ? 1 : 0])], io)
  } catch (error) {
    if (!(error instanceof PcpError) || error.code === 'ECANCELED') throw error
  }
}

function secondsAsTime(seconds: number): Timestamp {
  const sec = Math.floor(seconds)
  return { sec, nsec: Math.round((seconds - sec) * 1e9) }
}

function find({ context, group }: SamplerSetup, hasPss: boolean, io: ToolIo): Promise<SampledMetrics> {
  const items = hasPss ? [...TASK_ITEMS, PSS_ITEM] : TASK_ITEMS
  return SampledMetrics.find(
    context,
    [
      ...SYSTEM_METRICS,
      ...items.map((item) => `${group}.${item}`),
      ...NET_TASK_METRICS,
      ...GPU_TASK_METRICS,
      ...EXIT_METRICS,
    ],
    io,
  )
}
