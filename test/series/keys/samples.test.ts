/** Samples of a stream: values by type, identifiers, and pages whose size follows the values. */
import { afterEach, beforeEach, expect, it } from 'vitest'
import {
  PM_TYPE_AGGREGATE,
  PM_TYPE_DOUBLE,
  PM_TYPE_STRING,
  PM_TYPE_U32,
  PM_TYPE_U64,
} from '../../../src/model/types.ts'
import { KeyClient } from '../../../src/series/keys/client.ts'
import { SampleStreams } from '../../../src/series/keys/samples.ts'
import type { SampleWindow } from '../../../src/series/store.ts'
import { ValueBudget } from '../../../src/series/value-budget.ts'
import { type FakeServer, fakeServer } from './fake-server.ts'

const SERIES = '1'.repeat(40)
const [A, B] = ['a'.repeat(40), 'b'.repeat(40)]
const ALL: SampleWindow = { start: { sec: 0, nsec: 0 } }

/** An entry: its identifier, then fields and values. */
type Entry = readonly [id: string, ...fields: readonly string[]]

let server: FakeServer
let client: KeyClient
let entries: readonly Entry[] = []

beforeEach(async () => {
  server = await fakeServer(([, , from = '', , , count]) => {
    const [sec = 0, micros = 0] = from.split('-').map(Number)
    const found = entries.filter(([id]) => {
      const [ms = 0, us = 0] = id.split('-').map(Number)
      return ms > sec || (ms === sec && us >= micros)
    })
    return list(
      found.slice(0, Number(count)).map(([id, ...fields]) => list([text(id), list(fields.map(text))])),
    )
  })
  client = await KeyClient.open([{ host: '127.0.0.1', port: server.port }])
})

afterEach(async () => {
  client.close()
  await server.close()
})

const list = (items: readonly string[]): string => `*${items.length}\r\n${items.join('')}`
const text = (each: string): string => `$${each.length}\r\n${each}\r\n`
/** Returns an identifier as bytes, in latin1. */
const bytes = (hex: string): string => Buffer.from(hex, 'hex').toString('latin1')

it.each([
  [PM_TYPE_U32, '4294967295', 4_294_967_295],
  [PM_TYPE_U32, '-5', -5],
  [PM_TYPE_U64, '12345678901234567890', 12_345_678_901_234_567_890n],
  [PM_TYPE_U64, '999999999999999', 999_999_999_999_999],
  [PM_TYPE_DOUBLE, '1.500000e+00', 1.5],
  [PM_TYPE_DOUBLE, 'junk', Number.NaN],
  [PM_TYPE_STRING, '"12"', '12'],
  [PM_TYPE_STRING, Buffer.from('"é"').toString('latin1'), 'é'],
  [PM_TYPE_AGGREGATE, '-12358', '-12358'],
])('a value of type %i is read from %s', async (type, stored, value) => {
  entries = [['1-0', '', stored]]
  const [sample] = await new SampleStreams(client).read(SERIES, type, ALL, new ValueBudget())
  expect(sample).toEqual({ sec: 0, nsec: 1_000_000, ids: [''], values: [value] })
})

it('instances may appear, vanish and change places; errors and empty samples are left out', async () => {
  entries = [
    ['1000-0', bytes(A), '1', bytes(B), '2'],
    ['2000-5', bytes(A), '3', bytes(B), '4'],
    ['3000-0', bytes(A), '5'],
    ['3500-0', '0', ''],
    ['3600-0', '-1', '-12357'],
    ['4000-0', bytes(B), '6', bytes(A), '7'],
  ]
  const samples = await new SampleStreams(client).read(SERIES, PM_TYPE_U32, ALL, new ValueBudget())
  expect(samples.map(({ sec, nsec, ids, values }) => [sec, nsec, ids, values])).toEqual([
    [1, 0, [A, B], [1, 2]],
    [2, 5000, [A, B], [3, 4]],
    [3, 0, [A], [5]],
    [4, 0, [B, A], [6, 7]],
  ])
  expect(samples[1]!.ids).toBe(samples[0]!.ids)
})

it('the first page is short; later reads of a stream begin with what its values allow, with a limit', async () => {
  entries = Array.from({ length: 3000 }, (_, i): Entry => [`${i + 1}-0`, bytes(A), '1', bytes(B), '2'])
  const streams = new SampleStreams(client)
  const counts = async (): Promise<readonly (string | undefined)[]> => {
    server.commands.splice(0)
    expect(await streams.read(SERIES, PM_TYPE_U32, ALL, new ValueBudget())).toHaveLength(3000)
    return server.commands.map((command) => command.at(-1))
  }
  expect(await counts()).toEqual(['100', '5000'])
  expect(await counts()).toEqual(['1000', '5000'])
})

it('pages of many instances are short', async () => {
  const fields = Array.from({ length: 400 }, (_, i) => [bytes(i.toString(16).padStart(40, '0')), '1']).flat()
  entries = Array.from({ length: 110 }, (_, i): Entry => [`${i + 1}-0`, ...fields])
  await new SampleStreams(client).read(SERIES, PM_TYPE_U32, ALL, new ValueBudget())
  expect(server.commands.map((command) => command.at(-1))).toEqual(['100', '50'])
})
