/**
 * The messages of Remote Write, before compression.
 *
 *     1.0  prometheus.WriteRequest            each series repeats the texts of its labels; metadata is separate
 *     2.0  io.prometheus.write.v2.Request     texts are numbered once a request; each series has its metadata
 */
import type { SeriesSamples } from './batch.ts'
import type { MessageWriter } from './message-writer.ts'
import type { Family } from './series.ts'

/** Version of the protocol. */
export type ProtocolVersion = 1 | 2

/** Values of MetricType, the same in both versions. */
const COUNTER = 1
const GAUGE = 2
/** Upper and lower words of the value that ends a series, and of any other NaN. */
const STALE_NAN = [0x7ff0_0000, 2] as const
const NORMAL_NAN = [0x7ff8_0000, 1] as const

/** Headers of a request. */
export function protocolHeaders(version: ProtocolVersion): Record<string, string> {
  return version === 2
    ? {
        'Content-Type': 'application/x-protobuf;proto=io.prometheus.write.v2.Request',
        'X-Prometheus-Remote-Write-Version': '2.0.0',
      }
    : { 'Content-Type': 'application/x-protobuf', 'X-Prometheus-Remote-Write-Version': '0.1.0' }
}

/** Writes a WriteRequest of 1.0; `families` are those to describe. */
export function encodeV1(
  out: MessageWriter,
  entries: readonly SeriesSamples[],
  families: Iterable<Family>,
): void {
  for (const entry of entries) {
    const series = out.begin(1)
    for (const [name, value] of entry.series.labels) {
      const label = out.begin(1)
      out.text(1, name)
      out.text(2, value)
      out.end(label)
    }
    encodeSamples(out, entry)
    out.end(series)
  }
  for (const { name, isCounter, help, unit } of families) {
    const metadata = out.begin(3)
    out.integer(1, isCounter ? COUNTER : GAUGE)
    out.text(2, name)
    out.text(4, help)
    out.text(5, unit)
    out.end(metadata)
  }
}

/** Writes a Request of 2.0. */
export function encodeV2(out: MessageWriter, entries: readonly SeriesSamples[]): void {
  const refs = new Map<string, number>([['', 0]])
  const refOf = (text: string): number => {
    const known = refs.get(text)
    if (known !== undefined) return known
    const ref = refs.size
    refs.set(text, ref)
    return ref
  }
  for (const { series } of entries) {
    for (const [name, value] of series.labels) {
      refOf(name)
      refOf(value)
    }
    refOf(series.family.help)
    refOf(series.family.unit)
  }
  for (const text of refs.keys()) out.element(4, text)
  for (const entry of entries) {
    const { labels, family } = entry.series
    const series = out.begin(5)
    const numbers = out.begin(1)
    for (const [name, value] of labels) {
      out.packed(refOf(name))
      out.packed(refOf(value))
    }
    out.end(numbers)
    encodeSamples(out, entry)
    const metadata = out.begin(5)
    out.integer(1, family.isCounter ? COUNTER : GAUGE)
    out.integer(3, refOf(family.help))
    out.integer(4, refOf(family.unit))
    out.end(metadata)
    out.end(series)
  }
}

function encodeSamples(out: MessageWriter, { times, values, stale }: SeriesSamples): void {
  let next = 0
  for (let i = 0; i < times.length; i++) {
    const sample = out.begin(2)
    const value = values[i]!
    if (stale[next] === i) {
      next++
      out.doubleBits(1, ...STALE_NAN)
    } else if (Number.isNaN(value)) out.doubleBits(1, ...NORMAL_NAN)
    else out.double(1, value)
    out.int64(2, times[i]!)
    out.end(sample)
  }
}
