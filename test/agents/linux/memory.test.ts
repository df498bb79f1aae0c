import { expect, test } from 'vitest'
import { memField, newMeminfo, parseMeminfo } from '../../../src/agents/linux/meminfo.ts'
import { estimateAvailable, lowWatermark } from '../../../src/agents/linux/memory.ts'
import { parseSwaps } from '../../../src/agents/linux/swapdev.ts'
import { Scanner } from '../../../src/base/scan.ts'
import { answer, openFixture } from '../../lib/linux-agent.ts'

const scan = (text: string): Scanner => new Scanner(new TextEncoder().encode(text))

test('finds fields on any line', () => {
  const table = newMeminfo(['MemTotal', 'MemFree', 'HugePages_Free'])
  const read = (text: string): number[] => [...parseMeminfo(scan(text), table).values]
  expect(read('MemTotal:  10 kB\nMemFree:    3 kB\nOther: 1 kB\nHugePages_Free:   7\n')).toEqual([10, 3, 7])
  expect(read('MemTotal:  11 kB\nOther: 1 kB\nMemFree:    4 kB\n')).toEqual([11, 4, Number.NaN])
  expect(read('')).toEqual([Number.NaN, Number.NaN, Number.NaN])
  expect(memField(parseMeminfo(scan('MemFree: 5 kB'), table), 'MemFree')).toBe(5)
})

test('does not take a field for another that begins alike', () => {
  const table = newMeminfo(['Active', 'Active(anon)'])
  parseMeminfo(scan('Active:  1 kB\nActive(anon): 2 kB\n'), table)
  expect([...parseMeminfo(scan('Active(anon): 2 kB\nActive:  1 kB\n'), table).values]).toEqual([1, 2])
})

test('adds up the low watermarks of the zones', () => {
  expect(
    lowWatermark(
      'Node 0, zone DMA\n        min      33\n        low      41\n        high  49\n        low 1\n',
    ),
  ).toBe(42)
})

test('estimates available memory for kernels before 3.14', () => {
  const fields: Record<string, number> = {
    MemFree: 1000,
    'Active(file)': 300,
    'Inactive(file)': 100,
    SReclaimable: 50,
  }
  // 1000 - 100 free, 400 - 100 of the page cache, 50 - 25 of the slabs
  expect(estimateAvailable((name) => fields[name]!, 100)).toBe(1225)
  expect(estimateAvailable(() => 0, 100)).toBe(0)
})

test('uses the estimate where the kernel has none', async () => {
  const agent = openFixture('uni')
  // 102400 free, 270000 file pages, 40000 slabs, low watermarks of 1041 pages
  expect(await answer(agent, 'mem.util.available')).toBe(102400 - 4164 + 270000 - 4164 + 40000 - 4164)
  await agent.close()
})

test('sizes follow LINUX_PAGESIZE', async () => {
  const agent = openFixture('uni', { LINUX_PAGESIZE: '16384' })
  expect(await answer(agent, 'hinv.pagesize')).toBe(16384)
  expect(await answer(agent, 'mem.util.available')).toBe(102400 - 16656 + 270000 - 16656 + 40000 - 16656)
  await agent.close()
})

test('reads swap devices', () => {
  const text =
    'Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n/dev/sda2   partition\t4194300\t\t1024\t\t-2\n/a\\040b file\t\t20\t0\t5\n'
  expect(parseSwaps(text)).toEqual([
    { path: '/dev/sda2', size: 4194300, used: 1024, priority: -2 },
    { path: '/a\\040b', size: 20, used: 0, priority: 5 },
  ])
})
