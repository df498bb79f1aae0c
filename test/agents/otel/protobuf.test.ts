import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { metricsOf } from '../../../src/agents/otel/otlp.ts'
import { EXPORT_METRICS } from '../../../src/agents/otel/otlp-fields.ts'
import { decodeMessage } from '../../../src/agents/otel/protobuf.ts'
import { PcpError } from '../../../src/model/errors.ts'
import { attributes, metricsRequest, point, request } from './requests.ts'

/** A request with a metric of each kind. */
const EVERYTHING = metricsRequest({
  resource: { 'service.name': 'shop', nested: { list: [1, 'two', true, 2.5] } },
  scope: { name: 'scope', version: '1', attributes: attributes({ a: -5 }) },
  metrics: [
    {
      name: 'g',
      description: 'what',
      unit: 's',
      gauge: { dataPoints: [point({ asDouble: -1.5 }), point({ asInt: '-3' })] },
    },
    {
      name: 's',
      sum: {
        dataPoints: [point({ asInt: '9223372036854775807' })],
        aggregationTemporality: 1,
        isMonotonic: true,
      },
    },
    {
      name: 'h',
      histogram: {
        dataPoints: [
          point({
            count: '3',
            sum: 4.5,
            bucketCounts: ['1', '2', '0'],
            explicitBounds: [1, 2.5],
            min: 0.5,
            max: 2,
          }),
        ],
        aggregationTemporality: 2,
      },
    },
    {
      name: 'e',
      exponentialHistogram: {
        dataPoints: [
          point({
            count: '5',
            sum: 1,
            scale: -2,
            zeroCount: '1',
            positive: { offset: -7, bucketCounts: ['1', '300'] },
            negative: { offset: 4, bucketCounts: ['2'] },
          }),
        ],
        aggregationTemporality: 1,
      },
    },
    {
      name: 'q',
      summary: { dataPoints: [point({ count: '2', sum: 3, quantileValues: [{ quantile: 0.5, value: 1 }] })] },
    },
  ],
})
const BYTES = request('protobuf', EVERYTHING)

/** What a recorded or mangled request becomes: metrics, or the refusal that is meant for such. */
function outcome(read: () => unknown): unknown {
  try {
    return read()
  } catch (error) {
    if (error instanceof PcpError && error.code === 'PM_ERR_CONV') return error
    throw error
  }
}

test('both forms of a request are the same metrics', () => {
  const fromJson = metricsOf(JSON.parse(JSON.stringify(EVERYTHING)))
  expect(metricsOf(decodeMessage(BYTES, EXPORT_METRICS))).toEqual(fromJson)
  expect(
    fromJson.map(({ name, kind, temporality, isMonotonic }) => [name, kind, temporality, isMonotonic]),
  ).toEqual([
    ['g', 'gauge', 'cumulative', false],
    ['s', 'sum', 'delta', true],
    ['h', 'histogram', 'cumulative', false],
    ['e', 'exponential', 'delta', false],
    ['q', 'summary', 'cumulative', false],
  ])
  const [gauge, , , exponential] = fromJson
  expect(gauge?.points.map(({ value }) => value)).toEqual([-1.5, -3])
  expect(gauge?.resource.get('nested')).toEqual({ list: [1, 'two', true, 2.5] })
  expect(gauge?.scope.attributes.get('a')).toBe(-5)
  expect(exponential?.points[0]).toMatchObject({ scale: -2, positive: { offset: -7, counts: [1, 300] } })
})

test('fields that are not known are skipped', () => {
  // Field 9 as varint, field 10 as 8 bytes, field 11 as text, field 12 as 4 bytes.
  const unknown = [0x48, 0x81, 0x01, 0x51, 1, 2, 3, 4, 5, 6, 7, 8, 0x5a, 2, 0x61, 0x62, 0x65, 1, 2, 3, 4]
  const bytes = Uint8Array.from([...unknown, ...BYTES, ...unknown])
  expect(metricsOf(decodeMessage(bytes, EXPORT_METRICS)).length).toBe(5)
})

describe('an invalid request', () => {
  test('cut short anywhere is refused, or read up to a whole field', () => {
    let refused = 0
    for (let length = 0; length < BYTES.length; length++)
      if (
        outcome(() => metricsOf(decodeMessage(BYTES.subarray(0, length), EXPORT_METRICS))) instanceof PcpError
      )
        refused++
    expect(refused).toBeGreaterThan(BYTES.length * 0.9)
  })

  test('any bytes, and any change of a request, are refused or read', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        outcome(() => metricsOf(decodeMessage(bytes, EXPORT_METRICS)))
      }),
      { numRuns: 500 },
    )
    const change = fc.tuple(fc.nat(BYTES.length - 1), fc.integer({ min: 0, max: 255 }))
    fc.assert(
      fc.property(fc.array(change, { minLength: 1, maxLength: 5 }), (changes) => {
        const bytes = Uint8Array.from(BYTES)
        for (const [at, byte] of changes) bytes[at] = byte
        outcome(() => metricsOf(decodeMessage(bytes, EXPORT_METRICS)))
      }),
      { numRuns: 500 },
    )
  })

  test('any JSON is refused or read', () => {
    const names = fc.constantFrom(
      'resourceMetrics',
      'scopeMetrics',
      'metrics',
      'gauge',
      'dataPoints',
      'attributes',
      'name',
      'value',
    )
    const { tree } = fc.letrec((tie) => ({
      tree: fc.oneof(
        { maxDepth: 8 },
        fc.jsonValue(),
        fc.array(tie('tree'), { maxLength: 3 }),
        fc.dictionary(names, tie('tree'), { maxKeys: 4 }),
      ),
    }))
    fc.assert(
      fc.property(tree, (body) => {
        outcome(() => metricsOf(body))
      }),
      { numRuns: 500 },
    )
  })

  test('messages that contain themselves end somewhere', () => {
    let bytes = Buffer.from([0x0a, 1, 0x61])
    for (let depth = 0; depth < 100; depth++) {
      // AnyValue.kvlistValue { values { value
      const pair = Buffer.concat([Buffer.from([0x12, ...length(bytes.length)]), bytes])
      const list = Buffer.concat([Buffer.from([0x0a, ...length(pair.length)]), pair])
      bytes = Buffer.concat([Buffer.from([0x32, ...length(list.length)]), list])
    }
    const wrap = (tag: number, of: Buffer): Buffer =>
      Buffer.concat([Buffer.from([tag, ...length(of.length)]), of])
    const nested = wrap(0x0a, wrap(0x0a, wrap(0x0a, wrap(0x12, bytes))))
    expect(() => decodeMessage(nested, EXPORT_METRICS)).toThrow('nested more than 32 deep')
  })
})

function length(of: number): number[] {
  return of < 128 ? [of] : [(of & 127) | 128, of >> 7]
}
