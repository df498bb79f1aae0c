/** The text form: output of `toString` is parsed back, and no text makes the parser throw. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { dynamicRoot, type Pmid, pmid } from '../../src/model/ids.ts'
import { diagnosticText, parsePmns } from '../../src/pmns/parse.ts'
import { Pmns } from '../../src/pmns/tree.ts'

const component = fc.stringMatching(/^[A-Za-z][A-Za-z0-9_]{0,6}$/)
const name = fc.array(component, { minLength: 1, maxLength: 5 }).map((parts) => parts.join('.'))
const id = fc.oneof(
  fc
    .tuple(fc.nat({ max: 510 }), fc.nat({ max: 4095 }), fc.nat({ max: 1023 }))
    .map(([domain, cluster, item]) => pmid(domain, cluster, item)),
  fc.nat({ max: 510 }).map(dynamicRoot),
)

function entries(pmns: Pmns): [string, Pmid][] {
  const list: [string, Pmid][] = []
  pmns.walk('', (leaf, leafId) => list.push([leaf, leafId]))
  return list
}

function treeOf(leaves: readonly (readonly [string, Pmid])[]): Pmns {
  const pmns = new Pmns()
  for (const [leaf, leafId] of leaves) {
    try {
      pmns.add(leaf, leafId)
    } catch {
      // a name that is both leaf and non-leaf is not what this test is about
    }
  }
  return pmns
}

test('reads back what toString writes', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(name, id), { maxLength: 60 }), (leaves) => {
      const pmns = treeOf(leaves)
      const { pmns: again, diagnostics } = parsePmns(pmns.toString())
      expect(diagnostics).toEqual([])
      expect(entries(again!)).toEqual(entries(pmns))
      expect(again!.toString()).toBe(pmns.toString())
    }),
    { numRuns: 200 },
  )
})

test('never throws, whatever the text', () => {
  const word = fc.constantFrom('root', '{', '}', 'a', 'a.b', '1:2:3', '5:*:*', '\n', ' ', '# 1 "f"', '#', ':')
  const text = fc
    .array(fc.oneof(word, word, word, fc.string()), { maxLength: 40 })
    .map((words) => words.join(' '))
  fc.assert(
    fc.property(text, (input) => {
      const { pmns, diagnostics } = parsePmns(input, { unique: true })
      expect(pmns === undefined).toBe(diagnostics.length > 0)
    }),
    { numRuns: 1000 },
  )
})

test('reports the position of an error', () => {
  const { diagnostics } = parsePmns('root {\n   a   1:2:3   b!\n}\n', { file: 'names' })
  expect(diagnostics).toEqual([
    { file: 'names', line: 2, column: 8, message: 'Expected NAME or }', source: 'a 1:2:3 b!' },
  ])
  expect(diagnosticText(diagnostics[0]!)).toBe(
    '[names:2] Error Parsing ASCII PMNS: Expected NAME or }\n    a 1:2:3 b!\n            ^\n',
  )
})

test('reads a large name space without effort', () => {
  const pmns = new Pmns()
  for (let i = 0; i < 100_000; i++)
    pmns.add(`g${i % 10}.h${i % 1000}.m${i}`, pmid(i & 255, (i >> 8) & 4095, 1))
  const { pmns: again } = parsePmns(pmns.toString())
  expect(again?.size).toBe(100_000)
})
