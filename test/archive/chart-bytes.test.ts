import { expect, test } from 'vitest'
import { decodeChartRange, encodeChartRange } from '../../src/archive/chart-bytes.ts'

const RANGE = {
  start: 1,
  finish: 2.5,
  marks: [1.25],
  metrics: [{ name: 'é', code: 'PM_ERR_NAME', message: 'Unknown' }],
  lists: [Float64Array.of(1, Number.NaN), Float64Array.of(), Float64Array.of(-0.5)],
}

test('a head in JSON is followed by numbers, at multiples of eight', () => {
  const bytes = encodeChartRange(RANGE)
  const start = 4 + new DataView(bytes.buffer).getUint32(0, true)
  expect([start % 8, bytes.length - start]).toEqual([0, 24])
  expect(JSON.parse(new TextDecoder().decode(bytes.subarray(4, start)))).toEqual({
    ...RANGE,
    lists: [2, 0, 1],
  })
  expect(Buffer.from(bytes.subarray(start)).toString('hex')).toBe(
    '000000000000f03f000000000000f87f000000000000e0bf',
  )
  expect(decodeChartRange(bytes)).toEqual(RANGE)
})

test('truncated or invalid bytes are an error', () => {
  const bytes = encodeChartRange(RANGE)
  for (let length = 0; length < bytes.length; length++)
    expect(() => decodeChartRange(bytes.slice(0, length)), `${length}`).toThrow(
      /^Columns (?:are truncated|without a head) at byte \d+$/,
    )
  // Only the last number is missing.
  const offset = bytes.length - 8
  expect(() => decodeChartRange(bytes.slice(0, -1))).toThrow(
    expect.objectContaining({
      code: 'PM_ERR_IPC',
      offset,
      message: `Columns are truncated at byte ${offset}`,
    }),
  )
  for (const head of [
    '{',
    '{}',
    '{"lists":[-1]}',
    '{"lists":["x"]}',
    '{"lists":[0.5]}',
    '{"lists":[1e9]}',
    'null',
  ]) {
    const wrong = Buffer.concat([Buffer.from([head.length, 0, 0, 0]), Buffer.from(head), Buffer.alloc(16)])
    expect(() => decodeChartRange(new Uint8Array(wrong)), head).toThrow(
      /^Columns (?:are truncated|without a head)/,
    )
  }
})
