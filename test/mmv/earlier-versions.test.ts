/** Memory-mapped values written by earlier versions stay readable. test/fixtures/upgrade/README.md */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { agent as definition } from '../../src/agents/mmv/index.ts'
import { valuesOf } from '../../src/model/value-set.ts'
import { openAgent } from '../../src/pmda/open-agent.ts'
import { ASK } from '../lib/agent-catalogue.ts'

/** Offset of the flags in the header, and the flag of a file that is valid only while its process runs: docs/formats/mmv.md */
const FLAGS_AT = 28
const NEEDS_PROCESS = 2

let root: string
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'mmv-earlier-'))
  mkdirSync(join(root, 'mmv'))
})
afterEach(() => rmSync(root, { recursive: true }))

test.each(['c67b04a9', 'b4d706e8'])('a file of %s', async (commit) => {
  const bytes = readFileSync(join('test', 'fixtures', 'upgrade', 'mmv', commit))
  // The writer has ended, so the file must not claim that its values need it.
  bytes.writeInt32LE(bytes.readInt32LE(FLAGS_AT) & ~NEEDS_PROCESS, FLAGS_AT)
  writeFileSync(join(root, 'mmv', 'shop'), bytes)
  const agent = openAgent(definition, { root, env: { PCP_TMP_DIR: '/' } })
  try {
    const names = ['orders', 'stock', 'state', 'depth', 'wait.count', 'wait.sum', 'wait.bucket']
    const ids = (await agent.lookupNames(names.map((name) => `mmv.shop.${name}`), ASK)).map(Number) // biome-ignore format: one line
    const descs = (await agent.descs(ids, ASK)).map((desc) => desc as { type: number; indom: number })
    const { sets } = await agent.fetch(ids, ASK)
    const found: Record<string, unknown> = {}
    for (const [i, set] of sets.entries()) {
      const { type, indom } = descs[i]!
      const values = valuesOf(set, type)
      if (indom === 0xffffffff) {
        found[names[i]!] = values[0]?.value
        continue
      }
      const { ids: insts, names: external } = await agent.instances(indom, undefined, ASK)
      found[names[i]!] = Object.fromEntries(
        values.map(({ inst, value }) => [external[insts.indexOf(inst)], value]),
      )
    }
    expect(found).toEqual({
      orders: 3,
      stock: -17,
      state: 'grün',
      depth: { letters: 4, parcels: 5 },
      'wait.count': { letters: 0, parcels: 1 },
      'wait.sum': { letters: 0, parcels: 25 },
      'wait.bucket': {
        'letters::upto-10': 0,
        'letters::upto-100': 0,
        'letters::above-100': 0,
        'parcels::upto-10': 0,
        'parcels::upto-100': 1,
        'parcels::above-100': 0,
      },
    })
  } finally {
    await agent.close()
  }
})
