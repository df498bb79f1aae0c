/** Bytes of messages, by hand and by a decoder that shares nothing with the encoder. */
import { snappyCompress } from 'hyparquet-writer/src/snappy.js'
import { describe, expect, test } from 'vitest'
import { Batch, type SeriesSamples } from '../../src/remote-write/batch.ts'
import { encodeV1, encodeV2 } from '../../src/remote-write/encode.ts'
import { MessageWriter } from '../../src/remote-write/message-writer.ts'
import { seriesOf } from '../../src/remote-write/series.ts'
import { generator } from '../lib/generator.ts'
import { seed } from '../lib/seed.ts'
import { decodeRequest, decompressed } from './decode.ts'

const family = { name: 'up', isCounter: true, unit: 'count', help: 'H' }
const UP = seriesOf(family, new Map(Object.entries({ b: 'x', a: 'x', empty: '' })))

function bytesOf(write: (out: MessageWriter) => void): Buffer {
  const out = new MessageWriter()
  write(out)
  return Buffer.from(out.bytes)
}

function samplesOf(
  series: typeof UP,
  ...points: readonly (readonly [number, number | 'stale'])[]
): SeriesSamples {
  const batch = new Batch({ samples: 1000, bytes: 1 << 20 })
  for (const [time, value] of points)
    if (value === 'stale') batch.addStale(series, time)
    else batch.add(series, time, value)
  return [...batch.requests()][0]![0]!
}

const SAMPLE = '120c09000000000000f83f10e807'

test('a request of 1.0 by hand', () => {
  const message = bytesOf((out) => encodeV1(out, [samplesOf(UP, [1000, 1.5])], [family]))
  const name = '0a0e0a085f5f6e616d655f5f12027570'
  const labels = `${name}0a060a01611201780a060a0162120178`
  expect(message.toString('hex')).toBe(`0a2e${labels}${SAMPLE}1a100801120275702201482a05636f756e74`)
})

test('a request of 2.0 by hand', () => {
  const message = bytesOf((out) => encodeV2(out, [samplesOf(UP, [1000, 1.5])]))
  const symbols = '220022085f5f6e616d655f5f22027570220161220178220162220148' + '2205636f756e74'
  expect(message.toString('hex')).toBe(`${symbols}2a1e0a06010203040504${SAMPLE}2a06080118062007`)
})

describe.each([1, 2] as const)('version %d', (version) => {
  const decoded = (entries: readonly SeriesSamples[]): ReturnType<typeof decodeRequest> =>
    decodeRequest(
      bytesOf((out) => (version === 1 ? encodeV1(out, entries, [family]) : encodeV2(out, entries))),
      version,
    )

  test('special values keep their bits', () => {
    const values = [0, -0, Number.NaN, 'stale', Infinity, -Infinity, 2 ** 53, 5e-324] as const
    const { series } = decoded([samplesOf(UP, ...values.map((value, i) => [i, value] as const))])
    expect(series[0]!.samples.map(({ bits }) => bits)).toEqual([
      '0000000000000000',
      '8000000000000000',
      '7ff8000000000001',
      '7ff0000000000002',
      '7ff0000000000000',
      'fff0000000000000',
      '4340000000000000',
      '0000000000000001',
    ])
  })

  test('times of any sign and size', () => {
    const times = [
      -(2 ** 53),
      -1,
      0,
      1,
      127,
      128,
      2 ** 31 - 1,
      2 ** 31,
      2 ** 32,
      1_700_000_000_123,
      2 ** 53 - 1,
    ]
    const { series } = decoded([samplesOf(UP, ...times.map((time) => [time, 1] as const))])
    expect(series[0]!.samples.map(({ time }) => time)).toEqual(times)
  })

  test('texts of any length, and lone surrogates', () => {
    const texts = [1, 127, 128, 16_383, 16_384, 2_100_000].map((length) => 'é'.repeat(length))
    const long = [...texts, 'a\ud800b'].map((text) => seriesOf(family, new Map([['text', text]])))
    const { series } = decoded(long.map((each) => samplesOf(each, [1, 1])))
    expect(series.map(({ labels }) => labels['text'])).toEqual([...texts, 'a\ufffdb'])
  })

  test('random series', () => {
    const random = generator(seed)
    const made = Array.from({ length: 200 }, (_, i) => {
      const labels = Array.from({ length: random(8) }, (_, k) => [`l${k}`, `v${random(5)}`] as const)
      const points = Array.from({ length: 1 + random(20) }, (_, t) => [1000 * t, random(1e9) / 7] as const)
      const its = seriesOf({ ...family, name: `m${i}`, isCounter: i % 2 === 0 }, new Map(labels))
      return { its, points }
    })
    const { series, metadata } = decoded(made.map(({ its, points }) => samplesOf(its, ...points)))
    expect(series.map(({ labels }) => labels)).toEqual(made.map(({ its }) => Object.fromEntries(its.labels)))
    expect(series.map(({ samples }) => samples.map(({ time, value }) => [time, value]))).toEqual(
      made.map(({ points }) => points),
    )
    if (version === 1) expect(metadata).toEqual({ up: [1, 'H', 'count'] })
    else expect(series.map((each) => each.metadata?.[0])).toEqual(made.map((_, i) => 1 + (i % 2)))
  })
})

test('another implementation reads the compressed data', () => {
  const random = generator(seed)
  for (const length of [0, 1, 14, 15, 16, 65_535, 65_536, 70_000, 300_000]) {
    const spread = 1 + random(255)
    const bytes = Buffer.from(Array.from({ length }, () => random(spread)))
    expect(decompressed(Buffer.from(snappyCompress(bytes))).equals(bytes), `${length} bytes`).toBe(true)
  }
})

test('a batch is divided by samples and bytes, in order', () => {
  const batch = new Batch({ samples: 5, bytes: 1000 })
  const series = Array.from({ length: 4 }, (_, i) => seriesOf({ ...family, name: `m${i}` }, new Map()))
  for (let time = 0; time < 2; time++) for (const each of series) batch.add(each, time, 1)
  expect(batch.isFull).toBe(true)
  const names = [...batch.requests()].map((entries) => entries.map((each) => each.series.family.name))
  expect(names).toEqual([
    ['m0', 'm1'],
    ['m2', 'm3'],
  ])
  const wide = new Batch({ samples: 100, bytes: 500 })
  for (let i = 0; i < 3; i++) wide.add(seriesOf(family, new Map([['l', 'x'.repeat(400)]])), 0, 1)
  expect([...wide.requests()].map((entries) => entries.length)).toEqual([1, 1, 1])
})
