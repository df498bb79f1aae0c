/** Cost of the PDU of a fetch: HIGHRES_RESULT with one value, and with 15 KB of typical metrics. */
import { bench, do_not_optimize, group, run } from 'mitata'
import { pmid } from '../../src/model/ids.ts'
import { PM_TYPE_DOUBLE, PM_TYPE_STRING, PM_TYPE_U32, PM_TYPE_U64 } from '../../src/model/types.ts'
import { extractNumber } from '../../src/model/value-set.ts'
import { makeSet, makeSingular } from '../../src/model/value-writer.ts'
import type { ValueSet } from '../../src/model/values.ts'
import { decodeResult, encodeHighResResult } from '../../src/wire/result.ts'

const timestamp = { sec: 1_700_000_000, nsec: 123_456_789 }
const one: readonly ValueSet[] = [makeSingular(pmid(60, 0, 32), PM_TYPE_U32, 7)]

/** 40 metrics with 16 instances of 64 bits, 60 with one value, 10 strings. */
const insts = Array.from({ length: 16 }, (_, i) => i)
const screen: readonly ValueSet[] = [
  ...Array.from({ length: 40 }, (_, m) =>
    makeSet(
      pmid(60, 0, m),
      m % 3 === 0 ? PM_TYPE_DOUBLE : PM_TYPE_U64,
      insts,
      insts.map((i) => i * 1000 + m),
    ),
  ),
  ...Array.from({ length: 60 }, (_, m) =>
    makeSingular(pmid(60, 1, m), m % 2 === 0 ? PM_TYPE_U32 : PM_TYPE_U64, m),
  ),
  ...Array.from({ length: 10 }, (_, m) => makeSingular(pmid(60, 2, m), PM_TYPE_STRING, `text number ${m}`)),
]

for (const [name, sets] of [
  ['1 value', one],
  [`${screen.length} metrics`, screen],
] as const) {
  const pdu = encodeHighResResult(timestamp, sets)
  const values = sets.reduce((sum, { status }) => sum + status, 0)
  group(`${name}: ${values} values, ${pdu.length} bytes`, () => {
    bench('encode', () => do_not_optimize(encodeHighResResult(timestamp, sets)))
    bench('decode', () => do_not_optimize(decodeResult(pdu)))
    bench('pass on: decode and encode', () =>
      do_not_optimize(encodeHighResResult(timestamp, decodeResult(pdu).sets)),
    )
  })
}

const pdu = encodeHighResResult(timestamp, screen)
bench('decode 15 KB and take every 64-bit value', () => {
  let sum = 0
  for (const set of decodeResult(pdu).sets.slice(0, 40))
    for (let i = 0; i < set.status; i++)
      sum += extractNumber(set, i, set.bytes[set.word[i]!] === PM_TYPE_DOUBLE ? PM_TYPE_DOUBLE : PM_TYPE_U64)
  return do_not_optimize(sum)
})
await run()
