/** Cost of a large name space: 100,000 names, five times those of a collector with every agent. */
import { bench, do_not_optimize, run } from 'mitata'
import { pmid } from '../../src/model/ids.ts'
import { preprocess } from '../../src/pmns/cpp.ts'
import { parsePmns } from '../../src/pmns/parse.ts'
import { Pmns } from '../../src/pmns/tree.ts'

const NAMES: readonly string[] = Array.from(
  { length: 100_000 },
  (_, i) => `agent${i % 50}.group${i % 1000}.metric${i}`,
)
const ids = NAMES.map((_, i) => pmid(i % 500, i >> 10, i & 1023))

function build(): Pmns {
  const pmns = new Pmns()
  for (let i = 0; i < NAMES.length; i++) pmns.add(NAMES[i]!, ids[i]!)
  return pmns
}

const pmns = build()
const text = pmns.toString()
const withMacros = `#define DOMAIN 7\n${text}`
const someNames = NAMES.filter((_, i) => i % 100 === 0)
const someIds = ids.filter((_, i) => i % 100 === 0)

console.log(`${pmns.size} names, ${(text.length / 1e6).toFixed(1)} MB of text`)
bench('preprocess 100,000 names', () => do_not_optimize(preprocess(withMacros, { file: 'root' })))
bench('parse 100,000 names', () => do_not_optimize(parsePmns(text)))
bench('add 100,000 names', () => do_not_optimize(build()))
bench('write 100,000 names', () => do_not_optimize(pmns.toString()))
bench('traverse 100,000 names', () => do_not_optimize(pmns.traverse()))
bench('walk 100,000 names', () => {
  let count = 0
  pmns.walk('', () => count++)
  return do_not_optimize(count)
})
bench('look up 1,000 names', () => {
  for (const name of someNames) do_not_optimize(pmns.lookup(name))
})
bench('look up 1,000 unknown names', () => {
  for (const name of someNames) do_not_optimize(pmns.lookup(`${name}x`))
})
bench('names of 1,000 PMIDs', () => {
  for (const id of someIds) do_not_optimize(pmns.namesOf(id))
})
bench('children of 1,000 nodes', () => {
  for (let i = 0; i < 1000; i++) do_not_optimize(pmns.children(`agent${i % 50}.group${i}`))
})
await run()
