/** The search of metrics by words of users. */
import { expect, test } from 'vitest'
import { MetricSearch } from '../../src/analysis/metric-search.ts'
import { searchWords } from '../../src/analysis/search-words.ts'

/** Names and one-line helps as of our agents and PCP's. */
const METRICS = [
  ['kernel.all.load', '1, 5 and 15 minute load average'],
  ['kernel.all.cpu.wait.total', 'total CPU time waiting for I/O'],
  ['kernel.all.cpu.user', 'total user CPU time'],
  ['kernel.all.cpu.steal', 'total virtualisation CPU steal time'],
  ['kernel.all.pswitch', 'context switches'],
  ['kernel.all.pressure.io.some.avg', 'share of time some tasks stalled on I/O'],
  ['kernel.all.intr', 'interrupts since boot'],
  ['hinv.ncpu', 'number of CPUs in the machine'],
  ['mem.util.free', 'free memory'],
  ['mem.util.available', 'memory that can be used without swapping'],
  ['mem.physmem', 'memory of the machine'],
  ['disk.dev.await', 'per-disk average wait time of reads and writes'],
  ['disk.dev.avactive', 'per-disk time the device was busy'],
  ['disk.dev.aveq', 'per-disk queue length integral'],
  ['disk.dev.write_bytes', 'per-disk bytes written'],
  ['disk.all.read_bytes', 'bytes read from all disks'],
  ['filesys.full', 'share of the file system that is used'],
  ['filesys.freefiles', 'unallocated inodes'],
  ['network.interface.in.drops', 'received packets dropped'],
  ['network.interface.up', 'is the interface up'],
  ['network.interface.mtu', 'maximum transmission unit'],
  ['network.interface.in.bytes', 'received bytes'],
  ['network.interface.in.packets', 'received packets'],
  ['network.tcp.attemptfails', 'failed connection attempts'],
  ['kernel.all.interrupts.errors', 'interrupt errors'],
  ['mem.util.used', 'used memory'],
  ['mem.leaks', 'a made-up count of leaks'],
  ['containers.cpu.usage', 'CPU time used by a container'],
  ['cgroup.cpu.usage', 'CPU usage of a group'],
  ['network.tcp.retranssegs', 'segments sent again'],
  ['network.tcp.currestab', 'open TCP connections'],
  ['lmsensors.coretemp.package', 'temperature of the package'],
  ['pmcd.datasize', 'space allocated for data of the collector'],
  ['sample.load', 'hypothetical load'],
  ['vfs.files.count', 'open files'],
].map(([name, help]) => ({ name: name!, help: help! }))

const INSTANCES: Readonly<Record<string, readonly string[]>> = {
  'disk.dev': ['sda', 'nvme0n1'],
  'network.interface': ['lo', 'eth0'],
  'containers.cpu': [],
}
const index = new MetricSearch(METRICS, ({ name }) => INSTANCES[name.split('.').slice(0, 2).join('.')])
const first = (query: string): string | undefined => index.find(query)[0]?.name

test.each([
  ['load', 'kernel.all.load'],
  ['load average', 'kernel.all.load'],
  ['kernel.all.cpu.user', 'kernel.all.cpu.user'],
  ['iowait', 'kernel.all.cpu.wait.total'],
  ['latency', 'disk.dev.await'],
  ['disk latency', 'disk.dev.await'],
  ['disk await', 'disk.dev.await'],
  ['temperature', 'lmsensors.coretemp.package'],
  ['packet loss', 'network.interface.in.drops'],
  ['retransmits', 'network.tcp.retranssegs'],
  ['context switches', 'kernel.all.pswitch'],
  ['psi', 'kernel.all.pressure.io.some.avg'],
  ['interrupts', 'kernel.all.intr'],
  ['cores', 'hinv.ncpu'],
  ['disk utilisation', 'disk.dev.avactive'],
  ['disk queue', 'disk.dev.aveq'],
  ['inodes', 'filesys.freefiles'],
  ['file descriptors', 'vfs.files.count'],
  ['connections', 'network.tcp.currestab'],
  ['free memory', 'mem.util.free'],
  ['steal', 'kernel.all.cpu.steal'],
  ['full', 'filesys.full'],
  ['throughput', 'network.interface.in.bytes'],
  ['disk throughput', 'disk.all.read_bytes'],
  ['disk usage', 'filesys.full'],
  ['dropped packets', 'network.interface.in.drops'],
  ['cpu usage', 'kernel.all.cpu.user'],
  ['memory leak', 'mem.util.used'],
  ['eth0', 'network.interface.in.bytes'],
  ['containers cpu', 'containers.cpu.usage'],
])('%s finds %s first', (query, name) => {
  expect(first(query)).toBe(name)
})

test('instances are searched by their whole first word', () => {
  expect(index.find('sda').map(({ name }) => name)).toEqual(
    METRICS.filter(({ name }) => name.startsWith('disk.dev'))
      .map(({ name }) => name)
      .sort((a, b) => a.length - b.length || (a < b ? -1 : 1)),
  )
  expect(index.find('sd')).toEqual([])
})

test('metrics of a domain share the text of its instances', () => {
  const names = Array.from({ length: 20_000 }, (_, i) => `instance${i}`)
  let reads = 0
  const counted = new Proxy(names, {
    get: (target, key) => {
      if (key === 'map') reads++
      return Reflect.get(target, key)
    },
  })
  const many = Array.from({ length: 1000 }, (_, i) => ({ name: `made.m${i}`, help: '' }))
  expect(new MetricSearch(many, () => counted).find('instance19999')).toHaveLength(1000)
  expect(reads).toBe(1)
})

test('a short synonym is found at the start of words only', () => {
  const names = (query: string) => index.find(query).map(({ name }) => name)
  expect(names('temperature')).toEqual(['lmsensors.coretemp.package'])
  expect(names('temp')).toContain('network.tcp.attemptfails') // as typed
  expect(names('packet loss')).not.toContain('kernel.all.interrupts.errors')
})

test('metrics of an empty domain are last', () => {
  expect(
    index
      .find('usage')
      .map(({ name }) => name)
      .at(-1),
  ).toBe('containers.cpu.usage')
  expect(
    index
      .find('eth0')
      .slice(0, 2)
      .map(({ name }) => name),
  ).toEqual(['network.interface.in.bytes', 'network.interface.in.packets'])
})

test('without a metric with all words, those with most are found', () => {
  expect(first('load of elephants')).toBe('kernel.all.load')
  expect(index.find('elephants')).toEqual([])
})

test('an empty query finds all in their order, and long ones end', () => {
  expect(index.find('  ')).toEqual(METRICS)
  expect(searchWords('a '.repeat(1000))).toHaveLength(10)
  for (const query of ['constructor', '__proto__', 'toString', '\n', '(.*)+'])
    expect(() => index.find(query)).not.toThrow()
})
