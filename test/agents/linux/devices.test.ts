/** Tape drives, Fibre Channel adapters, kernel caches and serial ports of the linux agent. */
import { expect, test } from 'vitest'
import { parseStatistic } from '../../../src/agents/linux/class-statistics.ts'
import { parseSerial, parseSlabs } from '../../../src/agents/linux/restricted.ts'
import { parseScsi } from '../../../src/agents/linux/scsi.ts'
import { parseUnusable } from '../../../src/agents/linux/sysfs.ts'
import { Scanner } from '../../../src/base/scan.ts'
import { encodeText } from '../../../src/base/text.ts'
import { isError } from '../../../src/model/errors.ts'
import { ANONYMOUS } from '../../../src/model/source.ts'
import { answer, openFixture } from '../../lib/linux-agent.ts'

test('reports bytes received by an adapter, and no value for unsupported counters', async () => {
  const agent = openFixture('devices')
  expect(await answer(agent, 'fchost.in.bytes')).toMatchObject({ '1 host3': 507 * 4 })
  expect(await answer(agent, 'fchost.out.frames')).toMatchObject({ '1 host3': 506 })
  expect(await answer(agent, 'fchost.nos_count')).toEqual({ '1 host3': 502 })
  await agent.close()
})

test('names SCSI units that are block devices by address and kind', async () => {
  const agent = openFixture('devices')
  // as PCP 6.0.3 answers over the same files
  expect(await answer(agent, 'hinv.map.scsi')).toEqual({
    '0 scsi0:0:0:0 Direct-Access': 'sda',
    '1 scsi1:0:0:0 CD-ROM': 'sr0',
    '2 scsi9:0:10:0 Optical': 'sdb',
  })
  await agent.close()
})

test('a system without SCSI has no units', async () => {
  const agent = openFixture('ipc')
  expect(await answer(agent, 'hinv.map.scsi')).toBeNull()
  await agent.close()
})

test('a unit without a type is ignored', () => {
  expect(parseScsi('Host: scsi0 Channel: 00 Id: 00 Lun: 00\n  Vendor: ATA\n  Type:\n')).toEqual([])
  expect(parseScsi('  Type:   CD-ROM\n')).toEqual([])
})

test.each([
  ['0x1f', 31],
  ['18446744073709551614', 18446744073709551614n],
  ['0xffffffffffffffff', undefined],
  ['-1', undefined],
  ['', undefined],
  [undefined, undefined],
])('reads %j as %s', (text, value) => {
  expect(parseStatistic(text)).toBe(value)
})

test('shows kernel caches and serial ports to root alone', async () => {
  const agent = openFixture('devices')
  const names = ['mem.slabinfo.objects.size', 'tty.serial.tx']
  const ids = (await agent.lookupNames(names, { requester: ANONYMOUS })).map((id) => {
    if (isError(id)) throw id
    return id
  })
  const statusFor = async (uid: number | undefined): Promise<number[]> => {
    const requester = uid === undefined ? ANONYMOUS : { ...ANONYMOUS, credentials: { uid } }
    return (await agent.fetch(ids, { requester, batch: {} })).sets.map(({ status }) => status)
  }
  expect(await statusFor(undefined)).toEqual([0, 0])
  expect(await statusFor(1000)).toEqual([0, 0])
  expect(await statusFor(0)).toEqual([4, 3])
  await agent.close()
})

const scannerOf = (text: string): Scanner => new Scanner(encodeText(text))

test('joins the words of a cache’s name, and skips lines of other forms', () => {
  const text =
    'slabinfo - version: 2.1\n# name <active_objs>\nip fib trie 3 170 48 85 1 : tunables 0 0 0 : slabdata 1 2 0\nkmalloc-8 1 2 8 5 1 : tunables 0 0 0 : slabdata 3 4 0\nodd 1 2\n'
  expect([...parseSlabs(scannerOf(text))]).toEqual([
    ['ip_fib_trie', [3, 170, 48, 85, 1, 1, 2]],
    ['kmalloc-8', [1, 2, 8, 5, 1, 3, 4]],
  ])
})

test('leaves out serial ports without a device', () => {
  const text = 'serinfo:1.0\n0: uart:16550A irq:4 tx:7 rx:8 oe:2 RTS|CTS\n1: uart:unknown irq:3\n'
  expect([...parseSerial(scannerOf(text))]).toEqual([['0', [7, 8, 0, 0, 0, 2, 4]]])
})

test('adds up the sizes of the last zone of a node', () => {
  expect([...parseUnusable('Node 0, zone DMA 0.5\nNode 0, zone  Normal 0.250 0.500 \nx')]).toEqual([
    [0, 0.75],
  ])
})
