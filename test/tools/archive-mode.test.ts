/** pminfo, pmprobe and pmval on an archive. */
import { expect, test } from 'vitest'
import { openArchive } from '../../src/pmapi/archive.ts'
import type { Tool } from '../../src/tools/lib/tool.ts'
import { tool as pminfo } from '../../src/tools/pminfo/index.ts'
import { tool as pmprobe } from '../../src/tools/pmprobe.ts'
import { tool as pmval } from '../../src/tools/pmval/index.ts'
import { archive, desc, indom, mark, memoryFiles, result } from '../archive/build.ts'
import { testIo } from './run-tool.ts'

const FILES = archive('a', {
  start: 0,
  host: 'db1',
  meta: [
    desc({ pmid: 1, sem: 1, indom: 7, units: 0x00100000 }, 'disk.read'),
    desc({ pmid: 2, sem: 4 }, 'ncpu'),
    indom(3, 0, 7, [
      [1, 'sda'],
      [2, 'sdb'],
    ]),
  ],
  volumes: [
    [
      result(3, 0, { pmid: 2, values: [[-1, 4]] }),
      ...[1, 2, 3].map((time) =>
        result(3, time, {
          pmid: 1,
          values: [
            [1, 10 * time],
            [2, 5 * time * time],
          ],
        }),
      ),
      mark(3, 3.001),
      result(3, 5, {
        pmid: 1,
        values: [
          [1, 0],
          [2, 0],
        ],
      }),
      result(3, 6, {
        pmid: 1,
        values: [
          [1, 7],
          [2, 8],
        ],
      }),
    ],
  ],
})

async function print(tool: Tool, ...args: string[]): Promise<string> {
  const io = testIo(tool.name, args, { PCP_DERIVED_CONFIG: '' })
  const open: typeof openArchive = (names, options) =>
    openArchive(names, { ...options, files: memoryFiles(FILES) })
  expect(await tool.run({ ...io, openArchive: open })).toBe(0)
  return io.printed.stdout + io.printed.stderr
}

test('pminfo shows the first values after the origin', async () => {
  expect(await print(pminfo, '-f', '-a', 'a', '-O', '1.5', 'disk', 'ncpu')).toBe(`
disk.read
    inst [1 or "sda"] value 20
    inst [2 or "sdb"] value 20
ncpu: pmFetch: End of PCP archive log
`)
})

test('pmprobe counts them', async () => {
  expect(await print(pmprobe, '-I', '-a', 'a')).toBe(
    'ncpu 1 PM_IN_NULL\ndisk.read 2 "sda" "sdb"\nevent.flags 0\nevent.missed 0\n',
  )
})

test('pmval interpolates, with nothing across a mark', async () => {
  const lines = (await print(pmval, '-a', 'a', '-t', '1', '-T', '6', 'disk.read')).split('\n')
  expect(lines.slice(1, 10)).toEqual([
    'metric:    disk.read',
    'archive:   a',
    'host:      db1',
    'start:     Thu Jan  1 00:00:00 1970',
    'end:       Thu Jan  1 00:00:06 1970',
    'semantics: cumulative counter (converting to rate)',
    'units:     count (converting to count / sec)',
    'samples:   7',
    'interval:  1.00 sec',
  ])
  expect(lines.slice(10).map((line) => line.trimEnd())).toEqual([
    '00:00:00.000  No values available',
    '',
    '                 sda         sdb',
    '00:00:01.000  No values available',
    '00:00:02.000    10.00       15.00',
    '00:00:03.000    10.00       25.00',
    '00:00:04.000  No values available',
    '',
    '                 sda         sdb',
    '00:00:05.000  No values available',
    '00:00:06.000     7.000       8.000',
    '',
  ])
})

test('pmval -U shows uninterpolated records, including marks', async () => {
  const lines = (await print(pmval, '-U', 'a', '-r', '-S', '2', 'disk.read')).split('\n')
  expect(lines.slice(9).map((line) => line.trimEnd())).toEqual([
    '',
    '                    sda         sdb',
    '00:00:02.000         20          20',
    '00:00:03.000         30          45',
    '00:00:03.001  Archive logging suspended',
    '',
    '                    sda         sdb',
    '00:00:05.000          0           0',
    '00:00:06.000          7           8',
    '',
  ])
})
