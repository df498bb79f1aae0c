/** Cost of reading and writing values: one value, and the thousand of a busy metric. Figures are per line. */
import { bench, do_not_optimize, group, run } from 'mitata'
import { convertValue } from '../../src/model/extract-value.ts'
import { printValue } from '../../src/model/print.ts'
import { PM_TYPE_DOUBLE, PM_TYPE_STRING, PM_TYPE_U32, PM_TYPE_U64 } from '../../src/model/types.ts'
import { extract, extractNumber } from '../../src/model/value-set.ts'
import { makeSet, makeSingular, ValueSetWriter } from '../../src/model/value-writer.ts'
import type { Value } from '../../src/model/values.ts'

const COUNT = 1000
const KINDS: readonly { readonly name: string; readonly type: number; readonly values: readonly Value[] }[] =
  [
    { name: 'u32', type: PM_TYPE_U32, values: Array.from({ length: COUNT }, (_, i) => i * 4_000_000) },
    {
      name: 'u64 below 2^53',
      type: PM_TYPE_U64,
      values: Array.from({ length: COUNT }, (_, i) => i * 2 ** 40),
    },
    {
      name: 'u64 beyond 2^53',
      type: PM_TYPE_U64,
      values: Array.from({ length: COUNT }, (_, i) => 2n ** 60n + BigInt(i)),
    },
    { name: 'double', type: PM_TYPE_DOUBLE, values: Array.from({ length: COUNT }, (_, i) => i / 7) },
    { name: 'string', type: PM_TYPE_STRING, values: Array.from({ length: COUNT }, (_, i) => `process ${i}`) },
  ]
const insts = Int32Array.from({ length: COUNT }, (_, i) => i)
const writer = new ValueSetWriter()

for (const { name, type, values } of KINDS) {
  const set = makeSet(7, type, insts, values)
  group(`${name}, ${COUNT} values`, () => {
    bench('ValueSetWriter', () => {
      writer.begin(7, type)
      for (let i = 0; i < COUNT; i++) writer.add(i, values[i]!)
      return do_not_optimize(writer.end())
    })
    bench('makeSet', () => do_not_optimize(makeSet(7, type, insts, values)))
    bench('extract', () => {
      for (let i = 0; i < COUNT; i++) do_not_optimize(extract(set, i, type))
    })
    if (type !== PM_TYPE_STRING)
      bench('extractNumber', () => {
        let sum = 0
        for (let i = 0; i < COUNT; i++) sum += extractNumber(set, i, type)
        return do_not_optimize(sum)
      })
    bench('printValue', () => {
      for (let i = 0; i < COUNT; i++) do_not_optimize(printValue(set, i, type, 1))
    })
  })
}

group('1 value', () => {
  bench('ValueSetWriter, u64', () => {
    writer.begin(7, PM_TYPE_U64)
    writer.add(-1, 12_345)
    return do_not_optimize(writer.end())
  })
  bench('makeSingular, u64', () => do_not_optimize(makeSingular(7, PM_TYPE_U64, 12_345)))
  bench('convertValue, u64 to u32', () => do_not_optimize(convertValue(12_345, PM_TYPE_U64, PM_TYPE_U32)))
})
await run()
