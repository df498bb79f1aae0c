/** Vectors: format/events.json. */
import { expect, test } from 'vitest'
import { PcpError } from '../../src/model/errors.ts'
import { type EventRecord, encodeEvents, eventSets, unpackEvents } from '../../src/model/events.ts'
import { pmid, pmidStr } from '../../src/model/ids.ts'
import {
  PM_TYPE_64,
  PM_TYPE_AGGREGATE,
  PM_TYPE_DOUBLE,
  PM_TYPE_EVENT,
  PM_TYPE_FLOAT,
  PM_TYPE_HIGHRES_EVENT,
  PM_TYPE_STRING,
  PM_TYPE_U32,
  PM_TYPE_U64,
} from '../../src/model/types.ts'
import { extract } from '../../src/model/value-set.ts'
import { makeSingular } from '../../src/model/value-writer.ts'
import type { ValueSet } from '../../src/model/values.ts'
import { fromHex, readVectors } from '../vectors.ts'

interface Param {
  pmid: string
  type: number
  /** Little-endian, as in a PC's memory. */
  bytes: string
}

interface Result {
  time: [number, number]
  values: {
    pmid: string
    numval: number
    valfmt: string
    value?: number
    type?: number
    vlen?: number
    bytes?: string
  }[]
}

interface EventCase {
  name: string
  highres: boolean
  records: { time: [number, number]; flags: number; nparams: number; params: Param[] }[]
  vtype?: number
  valfmt?: number
  numval?: number
  vlen?: number
  nrecords?: number
  result: { error?: string; results?: Result[] }
}

/** Numbers change their byte order on the wire, text and aggregates do not. */
const toWire = (bytes: Uint8Array, type: number): Uint8Array =>
  type <= 5 ? Uint8Array.from(bytes).reverse() : bytes

const int32 = (value: number): number[] =>
  [value >> 24, value >> 16, value >> 8, value].map((byte) => byte & 255)
const int64 = (value: number): number[] => [...int32(0), ...int32(value)]

/** The array's bytes by hand. */
function arrayBytes({ highres, records, nrecords }: EventCase): number[] {
  const out = int32(nrecords ?? records.length)
  for (const { time, flags, nparams, params } of records) {
    out.push(...time.flatMap(highres ? int64 : int32), ...int32(flags), ...int32(nparams))
    for (const { pmid: id, type, bytes } of params) {
      const [domain, cluster, item] = id.split('.').map(Number) as [number, number, number]
      const data = toWire(fromHex(bytes), type)
      out.push(...int32(pmid(domain, cluster, item)), ...int32((type << 24) | (4 + data.length)), ...data)
      while (out.length % 4 !== 0) out.push(0)
    }
  }
  return out
}

function setOf(vector: EventCase): ValueSet {
  const data = arrayBytes(vector)
  const length = vector.vlen ?? 4 + data.length
  const type = vector.vtype ?? (vector.highres ? PM_TYPE_HIGHRES_EVENT : PM_TYPE_EVENT)
  const bytes = new Uint8Array(Math.max(length, 4 + data.length))
  bytes.set([...int32((type << 24) | length), ...data])
  const status = vector.numval ?? 1
  return {
    pmid: 1,
    status,
    format: vector.valfmt ?? 1,
    inst: Int32Array.of(-1),
    word: Int32Array.of(0),
    bytes,
  }
}

/** A parameter as the vectors write it. */
function describe(set: ValueSet): Result['values'][number] {
  const common = { pmid: pmidStr(set.pmid), numval: set.status }
  if (set.format === 0) return { ...common, valfmt: 'INSITU', value: set.word[0]! }
  const at = set.word[0]!
  const header = new DataView(set.bytes.buffer, set.bytes.byteOffset + at).getUint32(0)
  const [type, vlen] = [header >>> 24, header & 0xffffff]
  const data = toWire(set.bytes.subarray(at + 4, at + vlen), type)
  const bytes = [...data].map((byte) => byte.toString(16).padStart(2, '0')).join('')
  return { ...common, valfmt: 'DPTR', type, vlen, bytes }
}

test('unpacks event records as pmUnpackEventRecords does', () => {
  const { cases } = readVectors<EventCase>('format/events.json')
  for (const vector of cases) {
    const { highres, result, name } = vector
    const run = (): EventRecord[] =>
      unpackEvents(setOf(vector), 0, highres ? PM_TYPE_HIGHRES_EVENT : PM_TYPE_EVENT)
    if (result.error !== undefined) {
      expect(run, name).toThrow(expect.objectContaining({ code: result.error }))
      continue
    }
    const found = run().map((record) => ({
      time: [record.timestamp.sec, record.timestamp.nsec / (highres ? 1 : 1000)],
      values: eventSets(record).map(describe),
    }))
    expect(found, name).toEqual(result.results)
  }
  console.info(`format/events.json: ${cases.length} cases`)
})

const RECORDS = [
  { timestamp: { sec: 10, nsec: 5000 }, flags: 1, params: [] },
  { timestamp: { sec: 11, nsec: 999_999_000 }, flags: 0x80000000, missed: 7, params: [] },
  {
    timestamp: { sec: 12, nsec: 0 },
    flags: 10,
    params: [
      { pmid: 1, type: PM_TYPE_U32, value: 4294967295 },
      { pmid: 2, type: PM_TYPE_64, value: -5 },
      { pmid: 3, type: PM_TYPE_U64, value: 2n ** 64n - 1n },
      { pmid: 4, type: PM_TYPE_FLOAT, value: 1.5 },
      { pmid: 5, type: PM_TYPE_DOUBLE, value: 0.1 },
      { pmid: 6, type: PM_TYPE_STRING, value: 'café' },
      { pmid: 7, type: PM_TYPE_AGGREGATE, value: Uint8Array.of(1, 2, 3) },
    ],
  },
]

test('unpacks what it encoded', () => {
  for (const type of [PM_TYPE_EVENT, PM_TYPE_HIGHRES_EVENT]) {
    const records = unpackEvents(makeSingular(9, type, encodeEvents(type, RECORDS)), 0, type)
    const found = records.map(({ timestamp, flags, missed, params }) => ({
      timestamp,
      flags,
      ...(missed === 0 ? {} : { missed }),
      params: params.map((p) => ({ pmid: p.pmid, type: p.type, value: extract(p, 0, p.type) })),
    }))
    expect(found).toEqual(RECORDS)
  }
})

test('gives no records for a set without values', () => {
  const set = { ...makeSingular(9, PM_TYPE_EVENT, encodeEvents(PM_TYPE_EVENT, [])), status: 0 }
  expect(unpackEvents(set, 0, PM_TYPE_EVENT)).toEqual([])
})

test('survives any damage', () => {
  // The one byte of padding at the end may be missing.
  const bytes = encodeEvents(PM_TYPE_EVENT, RECORDS)
  for (let length = 0; length < bytes.length - 1; length++) {
    expect(() =>
      unpackEvents(makeSingular(9, PM_TYPE_EVENT, bytes.slice(0, length)), 0, PM_TYPE_EVENT),
    ).toThrow(PcpError)
  }
  for (let at = 0; at < bytes.length; at++) {
    const damaged = Uint8Array.from(bytes)
    damaged[at] = damaged[at]! ^ 0xff
    try {
      unpackEvents(makeSingular(9, PM_TYPE_EVENT, damaged), 0, PM_TYPE_EVENT)
    } catch (error) {
      expect(error).toBeInstanceOf(PcpError)
    }
  }
})
