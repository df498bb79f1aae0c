/** Every recorded PDU: decoded as recorded, encoded to the same bytes, and hostile variants of it refused. */
import { expect, test } from 'vitest'
import { PcpError } from '../../src/model/errors.ts'
import { Framer } from '../../src/wire/framer.ts'
import { pduFrom, pduName, pduType } from '../../src/wire/pdu.ts'
import { PDUS } from '../../src/wire/pdus.ts'
import { bytesOf, CODECS, hexOf, VECTORS, type Vector } from './vectors.ts'

/** Recorded PDUs that are well-formed enough for the recorder but rejected by a decoder. */
const REFUSED: Readonly<Record<string, string>> = {
  'descs/descs.wrong_marker.request': 'the status must be -1; collectors answer PM_ERR_IPC',
  'fetch/fetch.zero_pmids.request': 'a fetch without metrics; collectors answer PM_ERR_IPC',
  'handshake/creds.count_zero.v7.request': '7.2.1 answers PM_ERR_IPC, 6.0.3 leaves the version unset',
  'instances/unpadded_name.v7.request': '7.2.1 requires padding of the name, 6.0.3 does not',
}
/** Recorded PDUs that this implementation never sends, so that encoding yields other bytes. */
const NEVER_SENT: Readonly<Record<string, string>> = {
  'instances/id_and_name.request':
    'a query is for an id or for a name; both together are answered PM_ERR_INST',
}
/** Recorded PDUs of unsupported types. */
const UNSPOKEN = ['CONTROL_REQ', '0x7018']

const spoken = VECTORS.filter((vector) => !UNSPOKEN.includes(vector.pduType!))
const good = spoken.filter((vector) => vector.malformed !== true && !(vector.name in REFUSED))

function codecOf(vector: Vector) {
  return CODECS[pduType(bytesOf(vector.hex))]!
}

/** Returns whether a decoder rejects the bytes; only PM_ERR_IPC counts as a rejection. */
function refuses(vector: Vector, bytes: Uint8Array): boolean {
  // Stack traces are nearly all of the cost of a rejection, and there are tens of thousands of them.
  const { stackTraceLimit } = Error
  Error.stackTraceLimit = 0
  try {
    codecOf(vector).again(bytes, 0)
    return false
  } catch (error) {
    if (!(error instanceof PcpError)) throw new Error(`${vector.name}: ${error}`, { cause: error })
    return true
  } finally {
    Error.stackTraceLimit = stackTraceLimit
  }
}

test('every row of the PDU table has a vector and a codec', () => {
  const recorded = new Set(VECTORS.map((vector) => pduType(bytesOf(vector.hex))))
  expect(PDUS.filter((row) => !recorded.has(row.code)).map((row) => pduName(row.code))).toEqual([])
  expect(PDUS.filter((row) => CODECS[row.code] === undefined)).toEqual([])
  expect(Object.keys(CODECS).map(Number).sort()).toEqual(PDUS.map((row) => row.code).sort())
})

test('recorded PDUs decode to the recorded values', () => {
  for (const vector of good) {
    const shown = codecOf(vector).show(bytesOf(vector.hex))
    expect(vector.decoded, vector.name).toMatchObject(shown)
  }
})

test('recorded PDUs encode to the same bytes', () => {
  for (const vector of good) {
    if (vector.name in NEVER_SENT) continue
    const bytes = bytesOf(vector.hex)
    const again = codecOf(vector).again(bytes, pduFrom(bytes))
    expect(again.length, vector.name).toBe(bytes.length)
    for (const at of vector.undefinedBytes ?? []) again[at] = bytes[at]!
    expect(hexOf(again), vector.name).toBe(vector.hex)
  }
  const by = (list: readonly Vector[]) => new Set(list.map((vector) => vector.pduType)).size
  console.log(
    `wire vectors: ${good.length} of ${VECTORS.length} PDUs in ${by(good)} types decoded, all but ${Object.keys(NEVER_SENT).length} ` +
      `encoded to the same bytes; ${spoken.length - good.length} refused on purpose, ${VECTORS.length - spoken.length} of unsupported types`,
  )
})

test('malformed and refused PDUs are PM_ERR_IPC', () => {
  for (const vector of spoken.filter((candidate) => !good.includes(candidate))) {
    expect(() => codecOf(vector).show(bytesOf(vector.hex)), vector.name).toThrowError(
      expect.objectContaining({ code: 'PM_ERR_IPC' }),
    )
  }
})

test('a PDU cut at any length is refused', () => {
  const taken: string[] = []
  for (const vector of small()) {
    const bytes = bytesOf(vector.hex)
    for (let length = 0; length < bytes.length; length++) {
      const short = bytes.slice(0, length)
      if (!refuses(vector, short)) taken.push(`${vector.name} cut to ${length}`)
      // With a corrected length a few are valid again (ATTR of any length, ERROR of 16), the others are rejected.
      if (length >= 12) new DataView(short.buffer).setInt32(0, length)
      refuses(vector, short)
    }
  }
  expect(taken).toEqual([])
})

test('any word set to -1, 0 or the largest is decoded or refused, nothing else', () => {
  let tried = 0
  for (const vector of small()) {
    const bytes = bytesOf(vector.hex)
    for (let at = 12; at + 4 <= bytes.length; at += 4) {
      for (const value of [-1, 0, 0x7fffffff, -0x80000000, 0x00ffffff]) {
        const copy = bytes.slice()
        new DataView(copy.buffer).setInt32(at, value)
        refuses(vector, copy)
        tried++
      }
    }
  }
  console.log(`wire vectors: ${tried} variants with a hostile word`)
})

test('a stream of PDUs split anywhere yields the same PDUs', () => {
  const pdus = small()
    .slice(0, 40)
    .map((vector) => bytesOf(vector.hex))
  const stream = new Uint8Array(pdus.reduce((sum, pdu) => sum + pdu.length, 0))
  let end = 0
  for (const pdu of pdus) {
    stream.set(pdu, end)
    end += pdu.length
  }
  const expected = pdus.map(hexOf)
  const wrong: number[] = []
  for (let split = 0; split <= stream.length; split++) {
    let at = 0
    const framer = new Framer((pdu) => {
      if (at < 0 || Buffer.compare(pdu, stream.subarray(at, at + pdu.length)) !== 0) at = -1
      else at += pdu.length
    })
    framer.push(stream.subarray(0, split))
    framer.push(stream.subarray(split))
    if (at !== stream.length || framer.hasPartial) wrong.push(split)
  }
  expect(wrong).toEqual([])
  const got: string[] = []
  const framer = new Framer((pdu) => got.push(hexOf(pdu)))
  for (const byte of stream) framer.push(Uint8Array.of(byte))
  expect(got).toEqual(expected)
})

/** One vector of each type and length, without the few very long ones: the hostile variants are many. */
function small(): readonly Vector[] {
  const seen = new Map<string, Vector>()
  for (const vector of good) {
    if (vector.hex.length < 1600) seen.set(`${vector.pduType} ${vector.hex.length}`, vector)
  }
  return [...seen.values()]
}
