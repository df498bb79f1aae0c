/** A host whose signals are constant, as charts see it: recorded at two intervals, and live with rows from before the page came. */
import { decodeChartRange } from '../../../src/archive/chart-bytes.ts'
import { ArchiveImport } from '../../../src/archive/import/archive-import.ts'
import { memoryOutput } from '../../../src/archive/write/memory-output.ts'
import { PM_SEM_COUNTER, PM_SEM_DISCRETE, PM_SEM_INSTANT, PM_TYPE_DOUBLE } from '../../../src/model/types.ts'
import { batched } from '../../../src/ui/data/batch.ts'
import type { LiveListener, LiveRequest, LiveStream } from '../../../src/ui/data/live.ts'
import { LocalArchive } from '../../../src/ui/data/local-archive.ts'
import type { MetricOutcome } from '../../../src/ui/data/responses.ts'
import type { Source } from '../../../src/ui/data/source.ts'
import type { Plot } from '../../../src/ui/view/view.ts'

/** Start of the recording, in seconds since the epoch. */
export const START = 1_700_000_000
const INSTANCES = ['one', 'two']
/** Values of both instances of every metric; the change per second of counters. */
export const LEVELS: readonly number[] = [30, 70]
/** Seconds between records. */
export const FAST = 10
export const SLOW = 60
/** Recorded at each start of recording, and valid until the end. */
const ONCE = 0

/** Metrics by name: counters and levels, recorded often, seldom or once. */
const METRICS = {
  'fast.count': { every: FAST, isCounter: true },
  'slow.count': { every: SLOW, isCounter: true },
  'fast.level': { every: FAST, isCounter: false },
  'slow.level': { every: SLOW, isCounter: false },
  'once.level': { every: ONCE, isCounter: false },
} as const
type Recorded = keyof typeof METRICS
const names = Object.keys(METRICS) as Recorded[]

const plain = (...all: readonly Recorded[]): Plot[] => all.map((metric) => ({ metric }))
const rate = (of: Recorded): Plot => ({ metric: `page.${of}`, expr: `rate(${of}) * 1` })

/** Lists of plots that may share an axis. */
export const PLOTS: readonly (readonly Plot[])[] = [
  ...names.map((name) => plain(name)),
  plain('fast.count', 'slow.count'),
  plain('slow.level', 'fast.level'),
  plain('fast.level', 'once.level'),
  [rate('fast.count')],
  [rate('slow.count')],
  [rate('slow.count'), rate('fast.count')],
]

/** Seconds between the records of a plot's metric. */
export const intervalOf = ({ metric }: Plot): number => METRICS[operandOf(metric)].every

/** Do values depend on the sample before? */
export const isRate = (metric: string): boolean => METRICS[operandOf(metric)].isCounter

const operandOf = (metric: string): Recorded => metric.replace('page.', '') as Recorded

const isComputed = (metric: string): boolean => metric.startsWith('page.')

/** When what happens, in seconds since START unless stated otherwise. */
export interface Course {
  /** Delays of records after the multiples of their interval: fractions of a second, less than 0.4. */
  readonly delays: readonly number[]
  /** Are values of both intervals recorded together? */
  readonly isTogether: boolean
  /** How long a record takes to be in the archive. */
  readonly lag: number
  /** The page is opened. */
  readonly opened: number
  /** Rows that the server has from before. */
  readonly past: number
  /** Recording is interrupted from and to; undefined for never. */
  readonly down: readonly [from: number, to: number] | undefined
  /** Steps that each answer about recorded values takes. */
  readonly answers: readonly number[]
}

/** The host. */
export class ConstantHost {
  readonly source: Source
  readonly stream: LiveStream
  readonly #course: Course
  #listener: LiveListener | undefined
  #wish: LiveRequest | undefined
  /** Metrics of which the server has had a row, so that it knows their rates. */
  readonly #started = new Set<string>()
  #now = 0
  #step = 0
  #asked = 0
  readonly #pending: {
    readonly due: number
    readonly computed: Promise<unknown>
    readonly send: () => void
  }[] = []
  /** Times of all records, by interval. */
  readonly records: Readonly<Record<number, readonly number[]>>

  constructor(course: Course) {
    this.#course = course
    const often = this.#times(FAST)
    const again = often.find((time) => time > START + (course.down?.[1] ?? Infinity))
    this.records = {
      [FAST]: often,
      [SLOW]: this.#times(SLOW),
      [ONCE]: [often[0]!, ...(again === undefined ? [] : [again])],
    }
    this.stream = {
      subscribe: (_key: string, wish: LiveRequest, listener: LiveListener) => {
        this.#wish = wish
        this.#listener = listener
        this.#announce()
      },
      unsubscribe() {},
    } as unknown as LiveStream
    const range = batched((query) => {
      const computed = this.#archive()
        .range({ ...query })
        .then((bytes) => decodeChartRange(bytes))
      return new Promise((resolve) => {
        const due = this.#step + course.answers[this.#asked++ % course.answers.length]!
        this.#pending.push({ due, computed, send: () => resolve(computed) })
      })
    })
    this.source = { key: 'host:h', title: 'h', host: 'h', range } as unknown as Source
  }

  /** Time of the host. */
  get now(): number {
    return START + this.#now
  }

  /** Moves on to a time; live rows since then arrive, and recorded values that are due. */
  async moveTo(now: number): Promise<void> {
    this.#step++
    for (let time = Math.floor(this.#now) + 1; time <= now; time++) {
      this.#now = time
      if (this.#listener !== undefined) this.#sendRow(time)
    }
    this.#now = now
    await this.answer(this.#step)
  }

  /** Sends the answers that are due at a step, by default all. */
  async answer(step = Number.POSITIVE_INFINITY): Promise<void> {
    await turn()
    for (const one of this.#pending.splice(0)) {
      if (one.due > step) this.#pending.push(one)
      else {
        await one.computed
        one.send()
      }
    }
    await turn()
  }

  /** Lets the requests of a drawing be sent. */
  async settle(): Promise<void> {
    await turn()
  }

  get isAnswering(): boolean {
    return this.#pending.length > 0
  }

  #times(every: number): number[] {
    const { delays, down } = this.#course
    const times: number[] = []
    for (let n = 0; n * every < 2000; n++) {
      // Both intervals in one record, or in records that are apart.
      const isLate = every === SLOW && !this.#course.isTogether
      const delay = delays[((n * every) / FAST) % delays.length]!
      const time = START + n * every + delay + (isLate ? 0.4 : 0)
      if (down === undefined || time < START + down[0] || time > START + down[1]) times.push(time)
    }
    return times
  }

  /** The archive as far as it has been written. */
  #archive(): LocalArchive {
    const output = memoryOutput('made')
    const made = new ArchiveImport(output, { hostname: 'h', timezone: 'UTC', pid: 1 })
    for (const name of names)
      made.addMetric(name, {
        ...{ type: PM_TYPE_DOUBLE, indom: 'made' },
        sem: METRICS[name].isCounter
          ? PM_SEM_COUNTER
          : METRICS[name].every === ONCE
            ? PM_SEM_DISCRETE
            : PM_SEM_INSTANT,
      })
    const { lag, down } = this.#course
    const all = [FAST, SLOW]
      .flatMap((every) => this.records[every]!.map((time) => ({ time, every })))
      .filter(({ time }) => time <= this.now - lag)
      .sort((a, b) => a.time - b.time)
    let last = 0
    for (const { time, every } of all) {
      if (down !== undefined && last < START + down[0] && time > START + down[1] && last > 0) made.mark()
      last = time
      for (const name of names)
        if (
          METRICS[name].every === every ||
          (METRICS[name].every === ONCE && this.records[ONCE]!.includes(time))
        )
          for (const [i, instance] of INSTANCES.entries()) made.put(name, signalOf(name, i, time), instance)
      const sec = Math.floor(time)
      made.write({ sec, nsec: Math.round((time - sec) * 1e9) })
    }
    made.close()
    return new LocalArchive(
      'made',
      new Map([...output.contents()].map(([part, bytes]) => [`made.${part}`, bytes])),
    )
  }

  #announce(): void {
    const { metrics } = this.#wish!
    this.#listener!.topic(metrics.map(described), 'h')
    for (const metric of metrics.keys()) this.#listener!.instances(metric, [0, 1], INSTANCES)
    const { past, opened } = this.#course
    if (this.#now > opened) return // the server has never had this list of metrics
    for (let time = Math.floor(opened) - past + 1; time <= opened; time++) this.#sendRow(time, true)
  }

  #sendRow(time: number, isPast = false): void {
    const { metrics } = this.#wish!
    const row = metrics.map((name) => {
      const isKnown = !isComputed(name) || this.#started.has(name)
      this.#started.add(name)
      return isKnown ? LEVELS.map((_, i) => signalOf(name, i, START + time)) : []
    })
    this.#listener!.row(START + time, row, isPast)
  }
}

function signalOf(name: string, i: number, time: number): number {
  const level = LEVELS[i]!
  return METRICS[operandOf(name)].isCounter && !isComputed(name) ? level * (time - START + 1) : level
}

function described(name: string): MetricOutcome {
  const isCounter = isRate(name) && !isComputed(name)
  return {
    ...{ name, pmid: '', type: 'double', indom: '1.1', help: '' },
    sem: isCounter ? 'counter' : METRICS[operandOf(name)].every === ONCE ? 'discrete' : 'instant',
    units: isComputed(name) ? '/ sec' : 'none',
  } as MetricOutcome
}

const turn = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 0))
