/** Samples that are sent together, by series and in order of time. */
import type { RemoteSeries } from './series.ts'

/** Samples of one series. */
export interface SeriesSamples {
  readonly series: RemoteSeries
  /** Milliseconds since the epoch. */
  readonly times: number[]
  readonly values: number[]
  /** Indices of staleness markers, ascending; their values do not count. */
  readonly stale: number[]
}

/** Bounds of one request. */
export interface BatchLimits {
  readonly samples: number
  /** Bytes before compression, estimated. */
  readonly bytes: number
}

/** Bytes of a sample. */
const SAMPLE_BYTES = 18
/** Bytes of a label besides its texts. */
const LABEL_BYTES = 6

/** Gathers samples of any number of sources. */
export class Batch {
  readonly #limits: BatchLimits
  readonly #entries = new Map<RemoteSeries, SeriesSamples>()
  #samples = 0
  #bytes = 0

  constructor(limits: BatchLimits) {
    this.#limits = limits
  }

  /** Number of samples, with staleness markers. */
  get samples(): number {
    return this.#samples
  }

  /** Returns whether the batch should be sent. */
  get isFull(): boolean {
    return this.#samples >= this.#limits.samples || this.#bytes >= this.#limits.bytes
  }

  /** Adds a sample. */
  add(series: RemoteSeries, time: number, value: number): void {
    const { times, values } = this.#entry(series)
    times.push(time)
    values.push(value)
  }

  /** Adds a staleness marker: the series ends here. */
  addStale(series: RemoteSeries, time: number): void {
    const { times, values, stale } = this.#entry(series)
    stale.push(times.length)
    times.push(time)
    values.push(0)
  }

  #entry(series: RemoteSeries): SeriesSamples {
    this.#samples++
    this.#bytes += SAMPLE_BYTES
    const known = this.#entries.get(series)
    if (known !== undefined) return known
    const entry = { series, times: [], values: [], stale: [] }
    this.#entries.set(series, entry)
    this.#bytes += labelBytes(series)
    return entry
  }

  /** Divides the batch by the limits: a large record can exceed them. A series is not divided. */
  *requests(): Generator<readonly SeriesSamples[]> {
    let entries: SeriesSamples[] = []
    let samples = 0
    let bytes = 0
    for (const entry of this.#entries.values()) {
      const count = entry.times.length
      const size = count * SAMPLE_BYTES + labelBytes(entry.series)
      const isOver = samples + count > this.#limits.samples || bytes + size > this.#limits.bytes
      if (isOver && entries.length > 0) {
        yield entries
        entries = []
        samples = 0
        bytes = 0
      }
      entries.push(entry)
      samples += count
      bytes += size
    }
    if (entries.length > 0) yield entries
  }
}

function labelBytes({ labels }: RemoteSeries): number {
  let bytes = 0
  for (const [name, value] of labels) bytes += name.length + value.length + LABEL_BYTES
  return bytes
}
