/** Reports of dstat over an archive of a small host, with the plugins of this package. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { tool } from '../../../src/tools/pcp-dstat/index.ts'
import type { onDisk } from '../archive-runner.ts'
import { hostArchive, runOver } from '../pcp/host-archive.ts'

let archive: ReturnType<typeof onDisk>
let dir: string
beforeAll(() => {
  archive = hostArchive()
  dir = mkdtempSync(join(tmpdir(), 'dstat-'))
})
afterAll(() => {
  archive.remove()
  rmSync(dir, { recursive: true })
})

const run = (...args: readonly string[]): ReturnType<typeof runOver> =>
  runOver(tool, archive.path, args, { PCP_SYSCONF_DIR: '/nonexistent', HOME: '/nonexistent' })
const linesOf = async (...args: readonly string[]): Promise<readonly string[]> => {
  const { stdout, stderr, status } = await run(...args)
  expect([stderr, status]).toEqual(['', 0])
  return stdout.split('\n').slice(0, -1)
}

describe('a report', () => {
  it('has a block for each plugin, and a line for each sample', async () => {
    expect(await linesOf('-cdl', '1', '2')).toMatchInlineSnapshot(`
      [
        "----total-usage---- -dsk/total- ---load-avg---",
        "usr sys idl wai stl| read  writ| 1m   5m  15m ",
        "                   |           |0.50 0.25 0.12",
        " 25  12  62   0   0| 400k  100k|0.50 0.25 0.12",
        " 25  12  62   0   0| 400k  100k|0.50 0.25 0.12",
      ]
    `)
  })

  it('shows listed instances, or all', async () => {
    expect(await linesOf('-c', '-C', '1,total', '1', '1')).toMatchInlineSnapshot(`
      [
        "-----cpu1-usage---- ----total-usage----",
        "usr sys idl wai stl:usr sys idl wai stl",
        "  0   0 100   0   0: 25  12  62   0   0",
      ]
    `)
    expect(await linesOf('-cf', '1', '1')).toMatchInlineSnapshot(`
      [
        "-----cpu0-usage---- -----cpu1-usage----",
        "usr sys idl wai stl:usr sys idl wai stl",
        " 50  25  25   0   0:  0   0 100   0   0",
      ]
    `)
    const { stderr, status } = await run('-d', '-D', 'sdz', '1', '1')
    expect([stderr, status]).toEqual(['No matching instances found.\n', 1])
  })

  it('has the process with the largest value', async () => {
    expect(await linesOf('--top-cpu', '--top-mem', '1', '1')).toMatchInlineSnapshot(`
      [
        "-most-expensive- --most-expensive--",
        "  cpu process   |  memory process  ",
        "                |worker        4000",
        "worker        25|worker        4000",
      ]
    `)
  })

  it('has times in each of their forms', async () => {
    expect(await linesOf('-tT', '--time-adv', '--epoch-adv', '-l', '2', '1')).toMatchInlineSnapshot(`
      [
        "----system---- --epoch--- ------system------ ----epoch----- ---load-avg---",
        "     time     |  epoch   |     time-adv     |  epoch-adv   | 1m   5m  15m ",
        "01-01 00:00:00|0|01-01 00:00:00.000|0.000|0.50 0.25 0.12",
        "01-01 00:00:02|2|01-01 00:00:02.000|2.000|0.50 0.25 0.12",
      ]
    `)
  })

  it('reports plugins with unknown metrics, and continues without them', async () => {
    const { stdout, stderr, status } = await run('-ln', '1', '1')
    expect(stderr).toMatch(/^Invalid metric dstat\.net\.bits_in \(PM_ERR_BADDERIVE .*\)\.\n$/)
    expect(stdout.split('\n')[1]).toBe(' 1m   5m  15m ')
    expect(status).toBe(1)
    expect((await run('-n', '1', '1')).stdout).toBe('')
  })

  it('ends with its archive', async () => {
    expect((await linesOf('-l', '3')).length).toBe(2 + 4)
  })

  it('has colours on request, and no lines without values', async () => {
    const [heading, titles, first] = await linesOf('-c', '--color', '4', '1')
    expect(heading).toBe('\x1b[7l\x1b[0;34m----total-usage----\x1b[0;0m')
    expect(titles).toContain('\x1b[1;34m\x1b[4musr\x1b[0;0m')
    expect(first).toContain('\x1b[90m\x1b[1;31m 25')
  })
})

it('a file has unformatted values, and is appended to if it exists', async () => {
  const file = join(dir, 'report.csv')
  await linesOf('-dl', '-o', file, '1', '1')
  await linesOf('-l', '--output', file, '1', '1')
  const text = readFileSync(file, 'utf8')
    .replaceAll(file, 'FILE')
    .replaceAll(`"${userInfo().username}"`, '"USER"')
  const lines = text.split('\n')
  expect(lines[0]).toMatch(/^"pcp-dstat .* CSV Output"$/)
  expect(lines.slice(4)).toMatchInlineSnapshot(`
    [
      ""dsk/total",,"load avg",,",
      ""dsk/total:read","dsk/total:writ","1m","5m","15m"",
      ",0.500,0.250,0.125",
      "400,100,0.500,0.250,0.125",
      "",
      "",
      ""Host:","db1",,,,"User:","USER"",
      ""Cmdline:","pcp-dstat -l --output FILE 1 1",,,,"Date:","01 Jan 1970 00:00:00 UTC"",
      ""load avg",,",
      ""1m","5m","15m"",
      "0.500,0.250,0.125",
      "0.500,0.250,0.125",
      "",
    ]
  `)
})

it('errors are reported in one line', async () => {
  for (const [args, message] of [
    [['x'], "Invalid sample delay 'x'\n"],
    [['0'], "Invalid sample delay '0'\n"],
    [['1', 'x'], "Invalid sample count 'x'\n"],
    [['1', '2', '3'], 'Incorrect argument list, try --help\n'],
  ] as const) {
    const { stderr, status } = await run('-c', ...args)
    expect([stderr, status]).toEqual([message, 1])
  }
})

it('plugins are listed and checked without a source', async () => {
  const { stdout } = await run('--list')
  expect(stdout).toMatch(/^timestamp plugins:\n\tepoch, epoch-adv, time, time-adv\n/)
  expect(stdout).toContain('zfs-zil')
  expect((await run('-cq')).status).toBe(0)
})
