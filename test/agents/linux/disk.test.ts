import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import {
  DISCARD,
  type DiskKind,
  diskKind,
  FLUSH,
  newDiskTable,
  parseDiskstats,
  parsePartitions,
  READ,
  READ_MERGE,
  READ_SECTORS,
  WEIGHTED_MS,
  WRITE,
  WRITE_MS,
  WRITE_SECTORS,
} from '../../../src/agents/linux/disk-table.ts'
import { scsiId } from '../../../src/agents/linux/disk-wwid.ts'
import { Scanner } from '../../../src/base/scan.ts'
import type { AgentSource } from '../../../src/pmda/open-agent.ts'
import { ASK } from '../../lib/agent-catalogue.ts'
import { allAnswers, answer, openFixture } from '../../lib/linux-agent.ts'

const scan = (text: string): Scanner => new Scanner(new TextEncoder().encode(text))

test.each<[DiskKind, string[]]>([
  [
    'disk',
    ['sda', 'sdaa', 'vda', 'xvda', 'nvme0n1', 'nvme10n2', 'mmcblk0', 'rbd0', 'nbd15', 'cciss/c0d0', 'dasda'],
  ],
  ['partition', ['sda1', 'vdb15', 'nvme0n1p1', 'mmcblk0p2', 'rbd0p1', 'nbd0p3', 'cciss/c0d0p1', 'fd0']],
  ['dm', ['dm-0', 'dm-12']],
  ['md', ['md0', 'md127']],
  ['zram', ['zram0']],
  ['other', ['loop0', 'ram15', 'sr0']],
])('kind %s: %j', (kind, names) => {
  for (const name of names) expect(diskKind(name), name).toBe(kind)
})

test('reads four columns as old kernels write for partitions', () => {
  const table = parseDiskstats(scan('   8       1 sda1 90 901 190 1902\n'), newDiskTable())
  expect(table.columns[READ]).toBe(90)
  expect(table.columns[READ_SECTORS]).toBe(901)
  expect(table.columns[WRITE]).toBe(190)
  expect(table.columns[WRITE_SECTORS]).toBe(1902)
  expect(table.columns[READ_MERGE]).toBeNaN()
})

test('truncated lines have no value for missing columns; columns unknown to old kernels are 0', () => {
  const [short, old] = ['8 0 sda 1 2 3 4 5 6 7\n', '8 0 sda 1 2 3 4 5 6 7 8 9 10 11\n'].map((line) =>
    parseDiskstats(scan(line), newDiskTable()),
  )
  expect(short!.columns[WRITE_SECTORS]).toBe(7)
  expect([...short!.columns.subarray(WRITE_MS, DISCARD)]).toEqual([NaN, NaN, NaN, NaN])
  expect(short!.columns[DISCARD]).toBe(0)
  expect(old!.columns[WEIGHTED_MS]).toBe(11)
  expect(old!.columns[FLUSH]).toBe(0)
})

test('does not take a disk for another that stood on its line before', () => {
  const table = newDiskTable()
  parseDiskstats(scan('8 0 sda 1\n8 16 sdb 2\n'), table)
  const { layout } = table
  parseDiskstats(scan('8 0 sda 5\n8 16 sdb 6\n'), table)
  expect(table.layout).toBe(layout)
  parseDiskstats(scan('8 16 sdb 7\n'), table)
  expect(table.layout).not.toBe(layout)
  expect(table.names[0]).toBe('sdb')
  expect(table.columns[READ]).toBe(7)
  expect(table.count).toBe(1)
})

test('reads sizes from /proc/partitions', () => {
  const sizes = parsePartitions(
    'major minor  #blocks  name\n\n 254        0  268435456 vda\n   8  1 7 sda1\n',
  )
  expect([...sizes]).toEqual([
    ['vda', 268435456],
    ['sda1', 7],
  ])
})

test.each([
  ['naa.5000c500a1b2c3d4', '35000c500a1b2c3d4'],
  ['eui.0025388b710116a1', '20025388b710116a1'],
  ['t10.ATA     disk  ', '1ATA     disk  '],
  ['0QEMU', '0QEMU'],
])('writes %s as scsi_id does', (wwid, id) => {
  expect(scsiId(wwid)).toBe(id)
})

let root: string
let agent: AgentSource

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'disks-'))
  mkdirSync(join(root, 'proc'))
  agent = openFixture(root)
})
afterEach(async () => {
  await agent.close()
  rmSync(root, { recursive: true })
})

const diskstats = (...names: string[]): void =>
  writeFileSync(
    join(root, 'proc/diskstats'),
    names.map((name, i) => `8 ${i} ${name} ${i + 1} 0 0 0 0 0 0 0 0 0 0\n`).join(''),
  )

test('a disk keeps its number when others come and go, and has it again when it comes back', async () => {
  diskstats('sda', 'sdb')
  expect(await answer(agent, 'disk.dev.read')).toEqual({ '0 sda': 1, '1 sdb': 2 })
  diskstats('sdb', 'sdc')
  expect(await answer(agent, 'disk.dev.read')).toEqual({ '1 sdb': 1, '2 sdc': 2 })
  diskstats('sda', 'sdc')
  expect(await answer(agent, 'disk.dev.read')).toEqual({ '0 sda': 1, '2 sdc': 2 })
})

test('the values of one moment are of one reading', async () => {
  diskstats('sda')
  const both = await allAnswers(agent, ['disk.dev.read', 'disk.all.read', 'hinv.ndisk'])
  expect(both).toEqual({ 'disk.dev.read': { '0 sda': 1 }, 'disk.all.read': 1, 'hinv.ndisk': 1 })
})

test('a file that is not there is an error, not 0', async () => {
  expect(await answer(agent, 'disk.all.read')).toEqual({ error: 'No such file or directory' })
})

test('32-bit counters wrap', async () => {
  writeFileSync(join(root, 'proc/diskstats'), `8 0 sda 0 0 0 0 0 0 0 0 0 ${2 ** 32 + 5} 0\n`)
  expect(await allAnswers(agent, ['disk.dev.avactive', 'disk.all.avactive'])).toEqual({
    'disk.dev.avactive': { '0 sda': 5 },
    'disk.all.avactive': 2 ** 32 + 5,
  })
})

test('a device mapper device that is renamed has a new instance', async () => {
  diskstats('dm-0')
  const rename = (name: string): void => {
    mkdirSync(join(root, 'sys/block/dm-0/dm'), { recursive: true })
    writeFileSync(join(root, 'sys/block/dm-0/dm/name'), `${name}\n`)
  }
  expect(await answer(agent, 'disk.dm.read')).toBeNull()
  rename('old')
  expect(await answer(agent, 'disk.dm.read')).toEqual({ '0 old': 1 })
  rename('new')
  expect(await answer(agent, 'disk.dm.read')).toEqual({ '1 new': 1 })
})

test('mdadm reports the state of a software RAID', async () => {
  diskstats('md3')
  const program = join(root, 'mdadm')
  writeFileSync(program, '#!/bin/sh\n[ "$*" = "--detail --test /dev/md3" ] && exit 1\nexit 9\n', {
    mode: 0o755,
  })
  const armed = openFixture(root, { LINUX_MDADM: program })
  expect(await answer(armed, 'disk.md.status')).toEqual({ '0 md3': 1 })
  await armed.close()
})

test('mdadm runs once per batch', async () => {
  diskstats('md3')
  const program = join(root, 'mdadm')
  const runs = join(root, 'runs')
  writeFileSync(program, `#!/bin/sh\necho run >> ${runs}\n`, { mode: 0o755 })
  const armed = openFixture(root, { LINUX_MDADM: program })
  const [id] = (await armed.lookupNames(['disk.md.status'], ASK)) as [number]
  const moment = {}
  for (const ids of [[id, id], [id]]) await armed.fetch(ids, { ...ASK, batch: moment })
  expect(readFileSync(runs, 'utf8')).toBe('run\n')
  await armed.close()
})

test('without mdadm the state of a software RAID is an error', async () => {
  diskstats('md3')
  const unarmed = openFixture(root, { LINUX_MDADM: join(root, 'none') })
  expect(await answer(unarmed, 'disk.md.status')).toEqual({ error: 'No such file or directory' })
  await unarmed.close()
})

test('all of a tree can be moved below LINUX_STATSPATH', async () => {
  diskstats('sdq')
  const elsewhere = join(root, 'elsewhere')
  cpSync(join(root, 'proc'), join(elsewhere, 'proc'), { recursive: true })
  const moved = openFixture('/', { LINUX_STATSPATH: elsewhere })
  expect(await answer(moved, 'disk.dev.read')).toEqual({ '0 sdq': 1 })
  await moved.close()
})
