/**
 * Compares pmdumptext with the reference byte for byte, over ten archives of PCP's own tests and its sample agent. The reference's is in the
 * package pcp-gui; the environment variable PMDUMPTEXT names it if it is not installed.
 */
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openArchive } from '../../src/pmapi/archive.ts'
import { tool } from '../../src/tools/pmdumptext/index.ts'
import { testIo } from '../tools/run-tool.ts'
import { hasReference, type Printed, run, startReference, type TestCollector } from './lib/programs.ts'
import { VARIED_ARCHIVES } from './lib/report-archives.ts'
import { hasSuite, suiteFolder } from './lib/suite.ts'

const REFERENCE = process.env['PMDUMPTEXT'] ?? '/usr/bin/pmdumptext'
const canCompare = hasReference && hasSuite && existsSync(REFERENCE)
if (!canCompare) console.log("skipped: the reference's pmdumptext (package pcp-gui) is not installed")

const ENV = { PCP_DERIVED_CONFIG: '', TZ: 'UTC' }

/** In aligned tables the reference misplaces columns after a text, so such metrics are used in parseable tables only. */
const OVER_ARCHIVES: readonly string[] = [
  '-X -l -i -m -u -t 2sec -s 6 kernel.all.load',
  '-f | -d , -t 5sec -s 4 kernel.all.cpu.user disk.dev.read',
  '-M -o -C -t 1sec -s 3 kernel.all.load',
  '-lmNu -t 10sec -s 5 kernel.all.cpu.user disk.dev.total',
  '-H -G -z -t 3sec -s 7 mem.physmem kernel.all.cpu network.interface',
  '-i -H -w 11 -Z EST5EDT -t 3sec -s 7 mem.util disk.dev.read disk.dev.total',
  '-r -o -F -f %H:%M:%S -t 7sec -s 9 hinv kernel.all',
  '-R 3 -X -l -u -O +10sec -t 1min kernel.all.load kernel.all.cpu.sys',
  '-P 6 -u -m -t 5sec -S +5sec -T +1min sample',
  '-w 9 -U NA -d \\n -m -t 5sec -A 10sec -T +1min network.interface.in disk.all',
  '-i -t 0.5 -s 30 kernel.all.cpu.idle',
  '-i -o -m -u -S +1sec -t 3sec -s 4 kernel.all.load',
  '-P 0 -r -t 4sec -s 5 kernel.all.load mem.util',
  '-s 2 kernel.all.nosuch kernel.all.load[nosuch] kernel.all[x] kernel.all.load',
  '-X -N -t 2 -s 4 -c CONFIG',
  '-N -G -w 8 -t 2 -s 4 -c CONFIG',
  '-s 0 -t 1min -m kernel.all.load',
  '-F -G kernel.all.load',
  '-i -P 3 kernel.all.load',
  '-w 2 kernel.all.load',
  '-R 0 kernel.all.load',
  '-d ab kernel.all.load',
]

const LIVE: readonly string[] = [
  '-C -H -M sample.long sample.double sample.bin sample.milliseconds',
  '-C -i -H -M sample.long sample.double sample.bin sample.milliseconds',
  '-H -M sample.long.one sample.double.hundred sample.bin sample.string.hullo',
  '-i -H -M sample.long.ten sample.double sample.bin',
  '-G -m sample.longlong.million sample.float.million sample.double.hundred',
  '-F sample.ulonglong.million sample.float.bin',
  '-i -m -w 8 sample.hordes.one',
  '-m sample.bad sample.long.one',
  '-m sample.noinst sample.darkness sample.bogus_bin',
  'sample.aggregate.hullo sample.bad.nosupport sample.bad.unknown nosuch',
  'sample.long.one[x]',
  'sample.bin[bin-100,nosuch]',
  'sample.bin[bin-100',
  'sample[bin-100]',
  'sample.bin[]',
  '-P x sample.long.one',
]

const CONFIG = `# a comment

kernel.all.cpu.user	100
 kernel.all.load["1 minute"] 0.5
disk.dev.read x
kernel.all.load["5 minute","15 minute"]   -3
nosuch 3
network.interface.in.bytes  1e3
`

const archive = (name: string): string => `${suiteFolder('archives')}/${name}`

/** Removes usage texts, which are our own. */
const shown = ({ stdout, stderr }: Printed): string => stdout + stderr.replace(/^Usage: [\s\S]*/m, '')

/** Splits a command line; a bar is an empty word. */
const words = (line: string): string[] => line.split(' ').map((word) => (word === '|' ? '' : word))

/** Runs our tool; like the installed release, it interpolates from the earlier observation. */
async function runHere(args: readonly string[]): Promise<Printed> {
  const earlier: typeof openArchive = (list, options) => openArchive(list, { ...options, nearest: false })
  const io = { ...testIo('pmdumptext', args, ENV), now: Date.now, cwd: '/' }
  let status = 1
  try {
    status = await tool.run({ ...io, openArchive: earlier })
  } catch (error) {
    io.stderr.write(`pmdumptext: ${(error as Error).message}\n`)
  }
  return { status, ...io.printed }
}

describe.skipIf(!canCompare)('pmdumptext prints the same as the reference', () => {
  let collector: TestCollector
  let runs = 0
  let lines = 0
  beforeAll(async () => {
    collector = await startReference(['pmcd', 'sample'])
  })
  afterAll(async () => {
    await collector?.stop()
    console.log(`pmdumptext: ${runs} runs of both sides, ${lines} lines compared`)
  })

  const compare = async (args: readonly string[]): Promise<void> => {
    const theirs = await run(REFERENCE, args, { env: ENV })
    const ours = await runHere(args)
    expect(shown(ours), args.join(' ')).toBe(shown(theirs))
    expect(ours.status).toBe(theirs.status)
    runs++
    lines += theirs.stdout.split('\n').length - 1
  }

  test.each(OVER_ARCHIVES)('over archives: %s', async (line) => {
    const config = join(collector.dir, 'metrics')
    writeFileSync(config, CONFIG)
    const args = words(line).map((word) => (word === 'CONFIG' ? config : word))
    for (const name of VARIED_ARCHIVES) await compare(['-a', archive(name), ...args])
  })

  test.each([
    '-a multi-vm00,viewqa1 -lm -s 3 viewqa1/kernel.all.cpu multi-vm00/mem',
    '-a multi-vm00 -a viewqa1 -i -m -l -s 3 viewqa1/kernel.all.cpu multi-vm00/mem',
    '-i -l -m -s 3 viewqa1/kernel.all.cpu multi-vm00/mem',
    '-a multi-vm00 -a multi-vm01 -m -s 3 kernel.all.load',
    '-a viewqa1 -m -s 3 leaf:kernel.all.cpu nosuch:kernel.all.cpu',
    '-a nosuch kernel.all.load',
  ])('several sources: %s', (line) => compare(words(line.replaceAll(/multi-vm0.|viewqa1/g, archive))))

  test.each(LIVE)('live: %s', (line) =>
    compare(['-h', collector.host, '-s', '2', '-t', '0.05', '-f', 'T', ...words(line)]),
  )
})
