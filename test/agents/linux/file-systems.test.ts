/** File systems and locks of the linux agent. */
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { openContext } from '../../../src/agents/linux/context.ts'
import {
  type FileSystemRoom,
  fileSystemMetrics,
  fullness,
  isOnDisk,
  parseMounts,
  unescapeMount,
} from '../../../src/agents/linux/filesys.ts'
import { parseLocks } from '../../../src/agents/linux/vfs.ts'
import { Scanner } from '../../../src/base/scan.ts'
import { encodeText } from '../../../src/base/text.ts'
import { defineAgent, openAgent } from '../../../src/pmda/index.ts'
import { allAnswers, answer } from '../../lib/linux-agent.ts'

const root = fileURLToPath(new URL('../../fixtures/linux/busy-network', import.meta.url))
const ROOM: FileSystemRoom = { bsize: 4096, blocks: 1000, bfree: 600, bavail: 500, files: 50, ffree: 20 }

/** The file system metrics alone, over a kernel that knows these directories only. */
function withRoom(rooms: Readonly<Record<string, FileSystemRoom>>): ReturnType<typeof openAgent> {
  const definition = defineAgent({
    name: 'linux',
    domain: 60,
    open: (env) => {
      const ctx = openContext(env)
      const metrics = fileSystemMetrics(ctx, (directory) => {
        const room = rooms[directory.slice(root.length)]
        if (room === undefined) throw Object.assign(new Error(directory), { code: 'EACCES' })
        return room
      })
      return { metrics, close: ctx.close }
    },
  })
  return openAgent(definition, { root, env: {} })
}

test('reports each device once, in kilobytes, inodes and percent', async () => {
  const agent = withRoom({
    '/': ROOM,
    '/tmp': { ...ROOM, bsize: 512 },
    '/home': { ...ROOM, blocks: 0, bfree: 0, bavail: 0 },
  })
  expect(
    await allAnswers(
      agent,
      [...agent.names()].map(([name]) => name).filter((name) => !name.startsWith('tmpfs')),
    ),
  ).toEqual({
    'hinv.nfilesys': 3,
    'filesys.capacity': { '0 /dev/root': 4000, '1 /dev/sda1': 500, '2 /dev/mapper/vg0-home': 0 },
    'filesys.used': { '0 /dev/root': 1600, '1 /dev/sda1': 200, '2 /dev/mapper/vg0-home': 0 },
    'filesys.free': { '0 /dev/root': 2400, '1 /dev/sda1': 300, '2 /dev/mapper/vg0-home': 0 },
    'filesys.avail': { '0 /dev/root': 2000, '1 /dev/sda1': 250, '2 /dev/mapper/vg0-home': 0 },
    'filesys.maxfiles': { '0 /dev/root': 50, '1 /dev/sda1': 50, '2 /dev/mapper/vg0-home': 50 },
    'filesys.usedfiles': { '0 /dev/root': 30, '1 /dev/sda1': 30, '2 /dev/mapper/vg0-home': 30 },
    'filesys.freefiles': { '0 /dev/root': 20, '1 /dev/sda1': 20, '2 /dev/mapper/vg0-home': 20 },
    'filesys.mountdir': { '0 /dev/root': '/', '1 /dev/sda1': '/tmp', '2 /dev/mapper/vg0-home': '/home' },
    'filesys.blocksize': { '0 /dev/root': 4096, '1 /dev/sda1': 512, '2 /dev/mapper/vg0-home': 4096 },
    'filesys.full': {
      '0 /dev/root': expect.closeTo(400 / 9, 10),
      '1 /dev/sda1': expect.closeTo(400 / 9, 10),
      '2 /dev/mapper/vg0-home': 0,
    },
    'filesys.readonly': { '0 /dev/root': 0, '1 /dev/sda1': 1, '2 /dev/mapper/vg0-home': 0 },
  })
  await agent.close()
})

test('an unreadable file system does not affect the others', async () => {
  const agent = withRoom({ '/home': ROOM })
  expect(await answer(agent, 'filesys.capacity')).toEqual({ '2 /dev/mapper/vg0-home': 4000 })
  expect(await answer(agent, 'filesys.mountdir')).toMatchObject({ '0 /dev/root': '/' })
  await agent.close()
})

test('names file systems in memory by directory, blanks escaped', async () => {
  const agent = withRoom({ '/dev/shm': ROOM, '/with space': { ...ROOM, bfree: 0, bavail: 0 }, '/proc': ROOM })
  expect(await answer(agent, 'tmpfs.full')).toEqual({
    '0 /dev/shm': expect.closeTo(400 / 9, 10),
    '1 /proc': expect.closeTo(400 / 9, 10),
    '2 /with\\040space': 100,
  })
  await agent.close()
})

test('knows which mounts are on disk', () => {
  const mounts = parseMounts(
    'overlay / overlay rw 0 0\nsysfs /sys sysfs rw 0 0\n/dev/loop0 /snap squashfs ro 0 0\n/dev/sda1 /x autofs rw 0 0\n' +
      'tank/home /home zfs rw 0 0\n/dev/fuse /f fuse.portal rw 0 0\n/dev/x /mnt tmpfs rw 0 0\nbroken\n',
  )
  expect(mounts.filter(isOnDisk).map(({ device }) => device)).toEqual(['overlay', '/dev/fuse'])
})

test('undoes octal escapes', () => {
  expect(unescapeMount('/a\\040b\\134c\\011')).toBe('/a b\\c\t')
})

test('an empty file system is not full', () => {
  expect(fullness({ ...ROOM, blocks: 0, bfree: 0, bavail: 0 })).toBe(0)
})

test('counts locks held, not requests that wait', () => {
  const text =
    '1: POSIX  ADVISORY  WRITE 706 08:01:1 0 EOF\n1: -> POSIX  ADVISORY  READ 711 08:01:1 0 EOF\n' +
    '2: OFDLCK ADVISORY  READ  -1 08:01:2 0 9\n3: FLOCK  MSNFS     RW    12 08:01:3 0 EOF\n4: LEASE  BREAKER  READ 13 08:01:4 0 EOF\n5: NEW'
  expect(parseLocks(new Scanner(encodeText(text)))).toEqual({
    posix: { read: 1, write: 1, count: 2 },
    flock: { read: 1, write: 1, count: 1 },
    lease: { read: 1, write: 0, count: 1 },
  })
})
