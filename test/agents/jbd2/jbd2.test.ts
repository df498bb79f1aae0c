/** The jbd2 agent over journals written for the occasion. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { agent } from '../../../src/agents/jbd2/index.ts'
import { parseJournal } from '../../../src/agents/jbd2/journals.ts'
import { type AgentSource, openAgent } from '../../../src/pmda/open-agent.ts'
import { allAnswers, answer } from '../../lib/agent-answers.ts'
import {
  ASK,
  assertCatalogue,
  assertHelp,
  assertNameOrder,
  readCatalogue,
} from '../../lib/agent-catalogue.ts'

const OLD = `24 transaction, each up to 2048 blocks
average: 
  1ms waiting for transaction
  5327ms running transaction
  2ms transaction was being locked
  3ms flushing data (in ordered mode)
  35ms logging transaction
  52335us average transaction commit time
  262 handles per transaction
  4 blocks per transaction
  5 logged blocks per transaction
`
const NEW = `6117 transactions (19053 requested), each up to 8192 blocks
average: 
  7ms waiting for transaction
  8ms request delay
  4019ms running transaction
  9ms transaction was being locked
  10ms flushing data (in ordered mode)
  26ms logging transaction
  22584us average transaction commit time
  72 handles per transaction
  5 blocks per transaction
  6 logged blocks per transaction
`
const UNUSED = '0 transactions (0 requested), each up to 8192 blocks\n'

let root: string
let journals: string
let source: AgentSource
const write = (name: string, text: string): void => {
  mkdirSync(join(journals, name), { recursive: true })
  writeFileSync(join(journals, name, 'info'), text)
}
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'pcp-ts-jbd2-'))
  journals = join(root, 'proc/fs/jbd2')
  write('dm-1-8', NEW)
  write('sda1-8', OLD)
  write('vda-8', UNUSED)
  mkdirSync(join(journals, 'gone'))
  source = openAgent(agent, { root })
})
afterEach(async () => {
  await source.close()
  rmSync(root, { recursive: true })
})

test('describes and explains every metric as the catalogue of PCP 6.0.3 does, in its order', async () => {
  const catalogue = readCatalogue('jbd2')
  await assertCatalogue(source, catalogue)
  await assertHelp(source)
  assertNameOrder(source, catalogue)
})

test('parses both forms of the file; a journal without commits is left out', () => {
  expect(parseJournal('a', OLD)).toMatchObject({ count: 24, requested: undefined, maxBlocks: 2048 })
  expect(parseJournal('a', NEW)).toMatchObject({ count: 6117, requested: 19053, maxBlocks: 8192 })
  expect(parseJournal('a', UNUSED)).toBeUndefined()
  expect(parseJournal('a', 'nonsense')).toBeUndefined()
  expect(parseJournal('a', '')).toBeUndefined()
})

// What pmdajbd2 of PCP 6.0.3 answers over the same directory.
test('has the values that PCP has', async () => {
  expect(
    await allAnswers(
      source,
      [...source.names()].map(([name]) => name),
    ),
  ).toEqual({
    'jbd2.njournals': 2,
    'jbd2.transaction.count': { '0 dm-1-8': 6117, '1 sda1-8': 24 },
    'jbd2.transaction.requested': { '0 dm-1-8': 19053 },
    'jbd2.transaction.max_blocks': { '0 dm-1-8': 8192, '1 sda1-8': 2048 },
    'jbd2.transaction.total.blocks': { '0 dm-1-8': 30585, '1 sda1-8': 96 },
    'jbd2.transaction.total.blocks_logged': { '0 dm-1-8': 36702, '1 sda1-8': 120 },
    'jbd2.transaction.total.handles': { '0 dm-1-8': 440424, '1 sda1-8': 6288 },
    'jbd2.transaction.total.time.waiting': { '0 dm-1-8': 42819, '1 sda1-8': 24 },
    'jbd2.transaction.total.time.request_delay': { '0 dm-1-8': 152424 },
    'jbd2.transaction.total.time.running': { '0 dm-1-8': 24584223, '1 sda1-8': 127848 },
    'jbd2.transaction.total.time.being_locked': { '0 dm-1-8': 55053, '1 sda1-8': 48 },
    'jbd2.transaction.total.time.flushing_ordered_mode_data': { '0 dm-1-8': 61170, '1 sda1-8': 72 },
    'jbd2.transaction.total.time.logging': { '0 dm-1-8': 159042, '1 sda1-8': 840 },
    'jbd2.transaction.average.blocks': { '0 dm-1-8': 5, '1 sda1-8': 4 },
    'jbd2.transaction.average.blocks_logged': { '0 dm-1-8': 6, '1 sda1-8': 5 },
    'jbd2.transaction.average.handles': { '0 dm-1-8': 72, '1 sda1-8': 262 },
    'jbd2.transaction.average.time.waiting': { '0 dm-1-8': 7, '1 sda1-8': 1 },
    'jbd2.transaction.average.time.request_delay': { '0 dm-1-8': 8 },
    'jbd2.transaction.average.time.running': { '0 dm-1-8': 4019, '1 sda1-8': 5327 },
    'jbd2.transaction.average.time.being_locked': { '0 dm-1-8': 9, '1 sda1-8': 2 },
    'jbd2.transaction.average.time.flushing_ordered_mode_data': { '0 dm-1-8': 10, '1 sda1-8': 3 },
    'jbd2.transaction.average.time.logging': { '0 dm-1-8': 26, '1 sda1-8': 35 },
    'jbd2.transaction.average.time.committing': { '0 dm-1-8': 22584, '1 sda1-8': 52335 },
  })
})

test('a journal that comes back has its number again', async () => {
  await answer(source, 'jbd2.transaction.count')
  rmSync(join(journals, 'dm-1-8'), { recursive: true })
  expect(await answer(source, 'jbd2.transaction.count')).toEqual({ '1 sda1-8': 24 })
  write('dm-1-8', NEW.replace('6117', '6004799503160661'))
  expect(await answer(source, 'jbd2.transaction.count')).toMatchObject({ '1 sda1-8': 24 })
  // beyond 2^53 nothing is rounded
  expect(await answer(source, 'jbd2.transaction.total.time.waiting')).toEqual({
    '0 dm-1-8': 6004799503160661n * 7n,
    '1 sda1-8': 24,
  })
})

test('a kernel without journals has none of them, and no error', async () => {
  const empty = openAgent(agent, { root: join(root, 'nowhere') })
  expect(await answer(empty, 'jbd2.njournals')).toBe(0)
  expect(await answer(empty, 'jbd2.transaction.count')).toBeNull()
  await empty.close()
  const elsewhere = openAgent(agent, { root, options: { journals: '/elsewhere' } })
  const text = await elsewhere.text({ kind: 'metric', id: [...elsewhere.names()][0]![1], level: 'help' }, ASK)
  expect(text).toContain('/elsewhere')
  await elsewhere.close()
})
