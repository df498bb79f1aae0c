/** System V IPC of the linux agent: totals, and what objects come and go. */
import { expect, test } from 'vitest'
import { parseIpc } from '../../../src/agents/linux/ipc.ts'
import { allAnswers, openFixture } from '../../lib/linux-agent.ts'

test('adds objects up, segments in whole pages', async () => {
  const agent = openFixture('ipc', { LINUX_PAGESIZE: '4096' })
  const names = [
    'sem.used_sem',
    'sem.tot_sem',
    'msg.used_queues',
    'msg.tot_msg',
    'msg.tot_bytes',
    'shm.used_ids',
    'shm.rss',
    'shm.swp',
    'shm.tot',
  ]
  const found = await allAnswers(
    agent,
    names.map((name) => `ipc.${name}`),
  )
  // 25 pages, 2 pages, and 4 GB of which nothing fits into 32 bits but one page
  expect(Object.values(found)).toEqual([2, 17, 1, 4, 120, 3, 8192, 8192, 28 * 4096])
  await agent.close()
})

test('finds columns by the heading and ignores invalid rows', () => {
  const objects = parseIpc('key msqid perms qnum extra\n 5 9 622 4\n\nshort 1\n', 'msg')
  expect([...objects.keys()]).toEqual([9])
  expect([...objects.get(9)!]).toEqual([
    ['key', 5],
    ['msqid', 9],
    ['perms', 0o622],
    ['qnum', 4],
  ])
})
