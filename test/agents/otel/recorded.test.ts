/** Requests that OpenTelemetry's own SDK for Node (sdk-metrics 2.x with its OTLP exporters) sent, recorded as they came. */
import { readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { metricsOf, type OtlpMetric } from '../../../src/agents/otel/otlp.ts'
import { EXPORT_METRICS } from '../../../src/agents/otel/otlp-fields.ts'
import { decodeMessage } from '../../../src/agents/otel/protobuf.ts'

const vector = (name: string): Buffer =>
  readFileSync(new URL(`../../vectors/agents/otel/${name}`, import.meta.url))
const REQUESTS: readonly [form: string, temporality: string, metrics: readonly OtlpMetric[]][] = [
  ['protobuf', 'cumulative', metricsOf(decodeMessage(vector('request.pb'), EXPORT_METRICS))],
  ['json', 'delta', metricsOf(JSON.parse(gunzipSync(vector('request.json.gz')).toString('utf8')))],
]

test.each(REQUESTS)('a recorded request as %s', (form, temporality, metrics) => {
  const byName = new Map(metrics.map((metric) => [metric.name, metric]))
  expect(
    [...byName].map(([name, { kind, unit, points }]) => [name, kind, unit, points.length]).sort(),
  ).toEqual([
    ['cpu.time', 'sum', 's', 1],
    ['exp.size', 'exponential', 'By', 1],
    ['http.requests', 'sum', '{request}', 2],
    ['latency', 'histogram', 'ms', 1],
    ['queue.length', 'sum', '', 1],
    ['temperature', 'gauge', 'Cel', 1],
  ])
  const requests = byName.get('http.requests')!
  expect(requests).toMatchObject({
    isMonotonic: true,
    temporality,
    description: 'Requests that were answered',
  })
  expect(Object.fromEntries(requests.resource)).toMatchObject({
    'service.name': `shop-${form}`,
    'service.version': '1.2',
  })
  expect(requests.scope).toMatchObject({ name: 'checkout', version: '0.3' })
  expect(requests.points.map(({ value, attributes }) => [value, Object.fromEntries(attributes)])).toEqual([
    [3, { 'http.route': '/cart', 'http.status_code': 200 }],
    [2, { 'http.route': '/pay', 'http.status_code': 500 }],
  ])
  expect(byName.get('queue.length')).toMatchObject({ isMonotonic: false, points: [{ value: 3 }] })
  expect(byName.get('temperature')?.points[0]?.value).toBe(21.5)
  expect(byName.get('latency')?.points[0]).toMatchObject({
    count: 5,
    sum: 5062.5,
    min: 0.5,
    max: 5000,
    bounds: [1, 10, 100],
    buckets: [1, 2, 1, 1],
  })
  const size = byName.get('exp.size')!.points[0]!
  expect([size.count, size.sum, size.zeroCount]).toEqual([5, 1104, 1])
  expect(size.positive.counts.reduce((a, b) => a + b, 0)).toBe(4)
})
