/** The xfs agent with statistics in which every number is unique. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { agent } from '../../../src/agents/xfs/index.ts'
import { parseXfsStatistics } from '../../../src/agents/xfs/statistics.ts'
import { isError } from '../../../src/model/errors.ts'
import { PM_TYPE_U32 } from '../../../src/model/types.ts'
import { makeSingular } from '../../../src/model/value-writer.ts'
import { type AgentSource, openAgent } from '../../../src/pmda/open-agent.ts'
import { type Answer, allAnswers, answer } from '../../lib/agent-answers.ts'
import {
  ASK,
  assertCatalogue,
  assertHelp,
  assertNameOrder,
  ROOT_ASK,
  readCatalogue,
} from '../../lib/agent-catalogue.ts'

/** Rows of the kernel's file and how many numbers they have. */
const ROWS: readonly (readonly [string, number])[] = [
  ['extent_alloc', 4],
  ['abt', 4],
  ['blk_map', 7],
  ['bmbt', 4],
  ['dir', 4],
  ['trans', 3],
  ['ig', 7],
  ['log', 5],
  ['push_ail', 10],
  ['xstrat', 2],
  ['rw', 2],
  ['attr', 4],
  ['icluster', 3],
  ['vnodes', 8],
  ['buf', 9],
  ['abtb2', 15],
  ['abtc2', 15],
  ['bmbt2', 15],
  ['ibt2', 15],
  ['fibt2', 15],
  ['rmapbt', 15],
  ['refcntbt', 15],
  ['qm', 8],
  ['xpc', 3],
]

/** Number c of row r (both from 0) is base + 100 (r + 1) + c. */
const statistics = (base: number): string =>
  ROWS.map(
    ([word, count], r) =>
      `${word} ${Array.from({ length: count }, (_, c) => base + 100 * (r + 1) + c).join(' ')}\n`,
  ).join('')

const root = mkdtempSync(join(tmpdir(), 'pcp-ts-xfs-'))
const write = (path: string, text: string): void => {
  mkdirSync(dirname(join(root, path)), { recursive: true })
  writeFileSync(join(root, path), text)
}
write('all/sys/fs/xfs/stats/stats', `${statistics(10000)}debug 0\n`)
write('all/sys/fs/xfs/dm-0/stats/stats', statistics(30000))
write('all/sys/fs/xfs/sda1/stats/stats', statistics(20000))
write('all/sys/fs/xfs/debug/bug_on_assert', '1\n')
write('all/sys/block/dm-0/dm/name', 'vg-data\n')
write('all/proc/sys/fs/xfs/stats_clear', '0\n')

const source: AgentSource = openAgent(agent, { root: join(root, 'all') })
const names = [...source.names()].map(([name]) => name)
afterAll(async () => {
  await source.close()
  rmSync(root, { recursive: true })
})

test('describes and explains every metric as the catalogue of PCP 6.0.3 does, in its order', async () => {
  const catalogue = readCatalogue('xfs')
  await assertCatalogue(source, catalogue)
  await assertHelp(source)
  assertNameOrder(source, catalogue)
})

test('takes rows apart by name, and keeps large numbers exactly', () => {
  expect([...parseXfsStatistics('a 1 2\nb\n\nxpc 18446744073709551615 3\nc x\n')]).toEqual([
    ['a', [1, 2]],
    ['xpc', [18446744073709551615n, 3]],
  ])
})

/** Where pmdaxfs of PCP 6.0.3 takes each metric from: recorded with the same numbers. */
const RECORDED: { readonly [name: string]: number } = JSON.parse(
  readFileSync(new URL('../../vectors/xfs/columns.json', import.meta.url), 'utf8'),
)
/** PCP has these two the wrong way round in four trees. */
const SWAPPED = /\.btree\.(inode|free_inode|reverse_map|refcount)\.(lookup|compare)$/

test('takes each metric from the number that PCP takes it from', async () => {
  const answers = await allAnswers(source, Object.keys(RECORDED))
  const wrong = Object.entries(RECORDED).filter(([name, number]) => {
    const given = answers[name] as Answer
    const value =
      typeof given === 'object' && given !== null
        ? (given as { [i: string]: number })['0 /dev/mapper/vg-data']
        : given
    const expected = SWAPPED.test(name) ? (name.endsWith('lookup') ? number - 1 : number + 1) : number
    return value !== expected
  })
  console.log(`${Object.keys(RECORDED).length} metrics of xfs taken from the same numbers as PCP's`)
  expect(wrong).toEqual([])
})

test('counts the log in kilobytes and its buffers on average', async () => {
  write('few/proc/fs/xfs/stat', 'log 3 7 0 0 0\nrw 5\n')
  write('few/proc/fs/xfs/xqmstat', 'qm 1 2 3 4 5 6 7 8\n')
  const few = openAgent(agent, { root: '/', env: { XFS_STATSPATH: join(root, 'few') } })
  expect(await answer(few, 'xfs.log.blocks')).toBe(3)
  expect(await answer(few, 'xfs.log.write_ratio')).toBeCloseTo(7 / 3, 6)
  expect(await answer(few, 'xfs.quota.dquots_unused')).toBe(8)
  expect(await answer(few, 'xfs.write')).toBe(5)
  // what this kernel does not count is not 0
  const missing = { error: 'Metric not supported by this version of monitored application' }
  expect(await answer(few, 'xfs.read')).toEqual(missing)
  expect(await answer(few, 'xfs.vnodes.active')).toEqual(missing)
  expect(await answer(few, 'xfs.perdev.write')).toBeNull()
  await few.close()
})

test('a machine without XFS has no values, and no errors either', async () => {
  const none = openAgent(agent, { root: join(root, 'nowhere') })
  const answers = Object.entries(await allAnswers(none, names)).filter(([, given]) => given !== null)
  expect(answers).toEqual([['xfs.control.reset', 0]])
  await none.close()
})

test('a store resets the counters to 0', async () => {
  const [reset] = await source.lookupNames(['xfs.control.reset'], ASK)
  if (reset === undefined || isError(reset)) throw new Error('no such metric')
  await source.store([makeSingular(reset, PM_TYPE_U32, 1)], ROOT_ASK)
  expect(readFileSync(join(root, 'all/proc/sys/fs/xfs/stats_clear'), 'utf8')).toBe('1\n')
})
