/** Memory zones, page allocator counters, samepage merging and NUMA nodes of the linux agent. */
import { afterAll, expect, test } from 'vitest'
import {
  type BuddyLine,
  parseBuddyInfo,
  parseZoneInfo,
  type ZoneLine,
} from '../../../src/agents/linux/memory-zones.ts'
import { parseBandwidth, parseNode } from '../../../src/agents/linux/numa.ts'
import { parseVmstat, sumOf, vmstatField } from '../../../src/agents/linux/vmstat.ts'
import { Scanner } from '../../../src/base/scan.ts'
import { encodeText } from '../../../src/base/text.ts'
import { indom } from '../../../src/model/ids.ts'
import { LABEL_INDOM, LABEL_INSTANCES } from '../../../src/model/labels.ts'
import { ASK } from '../../lib/agent-catalogue.ts'
import { answer, openFixture } from '../../lib/linux-agent.ts'

const agent = openFixture('busy-network', { LINUX_PAGESIZE: '4096' })
afterAll(() => agent.close())

const scan = (text: string): Scanner => new Scanner(encodeText(text))
const vmstat = (text: string): ReturnType<typeof parseVmstat> => parseVmstat(scan(text))

test('reads the fields of vmstat that are there and no others', () => {
  const read = vmstat('pgfault 12\nnr_dirty 3\nnew_field 9\npswpin 18446744073709551615')
  expect(vmstatField(read, 'pgfault')).toBe(12)
  expect(vmstatField(read, 'pswpin')).toBe(18446744073709551615n)
  expect(vmstatField(read, 'pgmajfault')).toBeUndefined()
  expect(vmstatField(read, 'new_field')).toBeUndefined()
})

test('adds up the fields that are there', () => {
  const read = vmstat('pgscan_direct 4\npgscan_direct_throttle 1\n')
  expect(sumOf(read, ['pgscan_direct', 'pgscan_direct_dma', 'pgscan_direct_throttle'])).toBe(5)
  expect(sumOf(read, ['pgscan_kswapd'])).toBeUndefined()
})

test('a field of vmstat that goes away has no value any more', () => {
  const values = [...vmstat('pgfault 12\n')]
  const again = parseVmstat(new Scanner(encodeText('nr_dirty 3\n')), values)
  expect(vmstatField(again, 'pgfault')).toBeUndefined()
})

test('lists free blocks by zone, order and node', () => {
  const blocks = parseBuddyInfo(
    scan('Node 0, zone      DMA      1      0 \nNode 1, zone   Normal   7\nrubbish\n'),
  )
  expect([...blocks]).toEqual([
    ['DMA::order0::node0', 1],
    ['DMA::order1::node0', 0],
    ['Normal::order0::node1', 7],
  ])
})

test('separates nodes and zones of zoneinfo', () => {
  const { fields, protection } = parseZoneInfo(
    scan(
      'Node 1, zone   Normal\n  per-node stats\n      nr_active_anon 5\n  pages free     7\n        min      2\n' +
        '        protection: (0, 12)\n      nr_free_pages 7\n  pagesets\n    cpu: 0\n              high:     1712\n        high 99\n',
    ),
  )
  expect([...fields.keys()]).toEqual(['node1', 'Normal::node1'])
  expect([...fields.get('node1')!]).toEqual([['nr_active_anon', 5]])
  expect([...fields.get('Normal::node1')!]).toEqual([
    ['free', 7],
    ['min', 2],
    ['nr_free_pages', 7],
  ])
  expect([...protection]).toEqual([
    ['Normal::node1::lowmem_reserved0', 0],
    ['Normal::node1::lowmem_reserved1', 12],
  ])
})

test('successive readings give the same results as separate ones', () => {
  const zones: ZoneLine[] = []
  const blocks: BuddyLine[] = []
  for (const text of [
    'Node 0, zone   DMA\n  pages free 1\n      min 2\n',
    'Node 0, zone   DMA\n  pages free 3\n      low 4\n',
    'Node 1, zone   DMA\n  pages free 5\n      low 6\nNode 1, zone   DMA32\n  pages free 7\n',
  ])
    expect(parseZoneInfo(scan(text), zones)).toEqual(parseZoneInfo(scan(text)))
  for (const text of ['Node 0, zone DMA 1 2\n', 'Node 0, zone DMA 3\n', 'Node 0, zone DMA32 4 5\n'])
    expect([...parseBuddyInfo(scan(text), blocks)]).toEqual([...parseBuddyInfo(scan(text))])
})

test('reports free pages of each zone, which the reference loses', async () => {
  const free = await answer(agent, 'mem.zoneinfo.nr_free_pages')
  expect(Object.keys(free!)).toEqual([
    '1 DMA::node0',
    '2 Normal::node0',
    '4 Normal::node1',
    '5 Movable::node1',
  ])
})

test('labels zones and free blocks with their parts', async () => {
  const labels = async (level: number, serial: number): Promise<unknown[]> => {
    await agent.instances(indom(60, serial), undefined, ASK)
    const sets = await agent.labels({ level, id: indom(60, serial) }, ASK)
    return sets.map(({ json }) => JSON.parse(json || '{}') as unknown)
  }
  expect(await labels(LABEL_INDOM, 31)).toEqual([
    { device_type: ['memory', 'numa_node'], indom_name: 'per buddy per numa_node' },
  ])
  expect((await labels(LABEL_INSTANCES, 31))[1]).toEqual({ numa_node: 0, order: 1, zone: 'DMA' })
  expect((await labels(LABEL_INSTANCES, 32)).slice(0, 2)).toEqual([
    { numa_node: 0 },
    { numa_node: 0, zone: 'DMA' },
  ])
  expect((await labels(LABEL_INSTANCES, 33))[1]).toEqual({ lowmem_reserved: 1, numa_node: 0, zone: 'DMA' })
})

test('reads both kinds of file about a NUMA node', () => {
  expect([...parseNode(scan('Node 0 MemTotal:       8009216 kB\nNode 0 HugePages_Free:     3\n'))]).toEqual([
    ['MemTotal', 8009216],
    ['HugePages_Free', 3],
  ])
  expect([...parseNode(scan('numa_hit 4419227\n'))]).toEqual([['numa_hit', 4419227]])
})

test('takes the bandwidth of memory from a file whose version it knows', () => {
  expect([
    ...parseBandwidth('# measured\nVersion:1.0\nnode0:1024.5\nnode1: 7 # slow\nnodeX:3\nnode2:much\n'),
  ]).toEqual([
    [0, 1024.5],
    [1, 7],
  ])
  expect(parseBandwidth('Version:2.0\nnode0:1024\n').size).toBe(0)
  expect(parseBandwidth('node0:1024\n').size).toBe(0)
})
