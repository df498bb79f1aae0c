/** Cost of encoding, decoding and framing, which is most of a collector's work. */
import { bench, run, summary } from 'mitata'
import { pmid } from '../../src/model/ids.ts'
import type { ValueSet } from '../../src/model/values.ts'
import { decodeFetch, encodeFetch } from '../../src/wire/fetch.ts'
import { Framer } from '../../src/wire/framer.ts'
import { decodePmnsNames, encodePmnsNames } from '../../src/wire/pmns.ts'
import { decodeResult, encodeHighResResult } from '../../src/wire/result.ts'

const now = { sec: 1_700_000_000, nsec: 123_456_789 }

/** Returns a set of `count` 32-bit values in situ, or of 64-bit values in blocks. */
function setOf(item: number, count: number, isLong: boolean): ValueSet {
  const bytes = new Uint8Array(isLong ? 12 * count : 0)
  for (let i = 0; i < count && isLong; i++) bytes.set([3, 0, 0, 12], 12 * i)
  const inst = Int32Array.from({ length: count }, (_, i) => (count === 1 ? -1 : i))
  const word = Int32Array.from({ length: count }, (_, i) => (isLong ? 12 * i : i))
  return { pmid: pmid(60, 0, item), status: count, format: isLong ? 1 : 0, inst, word, bytes }
}

const single = [setOf(1, 1, false)]
/** About 15 KB: 200 metrics, every fourth with an instance domain of 8. */
const typical = Array.from({ length: 200 }, (_, i) => setOf(i, i % 4 === 0 ? 8 : 1, i % 2 === 0))
const singlePdu = encodeHighResResult(now, single)
const typicalPdu = encodeHighResResult(now, typical)
const ids = typical.map((set) => set.pmid)
const fetchPdu = encodeFetch(0, ids)
const names = Array.from({ length: 1000 }, (_, i) => `kernel.percpu.interrupts.line${i}`)
const namesPdu = encodePmnsNames(names)

console.log(`single: ${singlePdu.length} bytes, typical: ${typicalPdu.length} bytes`)
summary(() => {
  bench('encode RESULT, 1 value', () => encodeHighResResult(now, single))
  bench('decode RESULT, 1 value', () => decodeResult(singlePdu))
})
summary(() => {
  bench('encode RESULT, 200 metrics', () => encodeHighResResult(now, typical))
  bench('decode RESULT, 200 metrics', () => decodeResult(typicalPdu))
})
bench('encode FETCH, 200 metrics', () => encodeFetch(0, ids))
bench('decode FETCH, 200 metrics', () => decodeFetch(fetchPdu))
bench('encode PMNS_NAMES, 1000 names', () => encodePmnsNames(names))
bench('decode PMNS_NAMES, 1000 names', () => decodePmnsNames(namesPdu))

let got = 0
const framer = new Framer(() => got++)
const chunk = new Uint8Array(singlePdu.length * 100)
for (let i = 0; i < 100; i++) chunk.set(singlePdu, i * singlePdu.length)
bench('frame 100 PDUs of one chunk', () => framer.push(chunk))
await run()
if (got === 0) throw new Error('the framer gave no PDUs')
