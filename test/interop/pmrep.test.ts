/**
 * Compares pmrep with the reference over ten archives of PCP's own tests with many sets of options: a third of the runs per day
 * (CONTRIBUTING.md: Random tests). Values are interpolated like in 6.0.3: docs/explanation/differences.md.
 */
import { existsSync } from 'node:fs'
import { expect, test } from 'vitest'
import { PcpError } from '../../src/model/errors.ts'
import { openArchive } from '../../src/pmapi/archive.ts'
import { shippedSets } from '../../src/tools/lib/report/config.ts'
import { tool } from '../../src/tools/pmrep/index.ts'
import { isSampled } from '../lib/seed.ts'
import { testIo } from '../tools/run-tool.ts'
import { run } from './lib/programs.ts'
import { REPORT_ARCHIVES } from './lib/report-archives.ts'
import { hasSuite, suiteFolder } from './lib/suite.ts'

const canCompare = hasSuite && existsSync('/usr/bin/pmrep')
if (!canCompare) console.log('skipped: the archives of the reference or /usr/bin/pmrep are not installed')

const env = { TZ: 'UTC', PCP_DERIVED_CONFIG: '' }

const OPTIONS: readonly (readonly string[])[] = [
  ['-s', '4'],
  ['-s', '3', '-p', '-t', '2'],
  ['-u', '-p', '-s', '5', '-w', '14'],
  ['-u', '-r', '-p', '-s', '5', '-P', '1'],
  ['-s', '3', '-x', '-H'],
  ['-s', '4', '-X', 'inst', '-p', '-u'],
  ['-s', '6', '-1', '-p', '-u'],
  ['-s', '5', '-1', '-X', '', '-u', '-E', '2'],
  ['-s', '4', '-g', '-u', '-U'],
  ['-s', '4', '-g', '-X', 'x', '-u'],
  ['-s', '5', '-o', 'csv', '-u'],
  ['-s', '5', '-o', 'csv', '-k', '-l', ';', '-x'],
  ['-s', '5', '-7', '-X', 'name', '-u'],
  ['-u', '-r', '-s', '6', '-J', '2'],
  ['-u', '-r', '-s', '6', '-J', '-1', '-1', '-9', '3'],
  ['-s', '3', '-l', '|', '-w', '6', '-b', 'MB', '-y', 'sec'],
  ['-T', '+10', '-t', '3', '-x'],
  ['-C', '-m'],
  ['-s', '5', '-r', '-u', '-J', '1', '-2'],
  ['-s', '30', '-u', '-E', 'auto'],
  ['-s', '12', '-u', '-E', 'auto', '-X', 'inst', '-U'],
]

/** Sets whose percentages end in a five, which one more digit of the reference's clock rounds differently. */
const ON_EDGE: readonly string[] = ['sar-u-ALL', 'sar-u-ALL-P-ALL']
/** Conditions over instances that an operand lacks: the reference treats them as false. */
const LACKING: readonly string[] = ['sar-n-DEV']

test.skipIf(!canCompare)('pmrep prints the same as the reference', { timeout: 600_000 }, async () => {
  let runs = 0
  let lines = 0
  const differences: string[] = []
  for (const [a, [name, metrics]] of REPORT_ARCHIVES.entries()) {
    for (const [o, options] of OPTIONS.entries()) {
      if (!isSampled(a + o, 12)) continue
      const args = ['-z', '-a', `${suiteFolder('archives')}/${name}`, ...options, ...metrics]
      const theirs = await run('/usr/bin/pmrep', args, { env })
      const ours = await runHere(args)
      runs++
      lines += theirs.stdout.split('\n').length - 1
      if (ours !== theirs.stdout)
        differences.push(`pmrep ${options.join(' ')} ${name}: ${firstDifference(theirs.stdout, ours)}`)
    }
  }
  console.log(`pmrep beside the reference: ${runs} runs, ${lines} lines, ${differences.length} differences`)
  expect(differences).toEqual([])
})

test.skipIf(!canCompare)('metric sets show the same as the reference', { timeout: 600_000 }, async () => {
  let lines = 0
  const differences: string[] = []
  const sets = [...shippedSets().sections.keys()].filter((name) => !name.startsWith('pmstat'))
  const compared = sets.filter(
    (name, i) => isSampled(i, 12) && !ON_EDGE.includes(name) && !LACKING.includes(name),
  )
  for (const name of compared) {
    const args = ['-z', '-a', `${suiteFolder('archives')}/20201109`, '-s', '3', '-p', `:${name}`]
    const theirs = await run('/usr/bin/pmrep', args, { env: { TZ: 'UTC' } })
    const ours = await runHere(args, { TZ: 'UTC', PCP_SYSCONF_DIR: '/none', HOME: '/none' })
    // Where the reference rejects a set for a missing metric, ours does too, with more lines.
    if (theirs.stdout === '') {
      if (ours.startsWith('  ')) differences.push(`:${name} is not rejected`)
      continue
    }
    lines += theirs.stdout.split('\n').length - 1
    if (ours !== theirs.stdout) differences.push(`:${name}: ${firstDifference(theirs.stdout, ours)}`)
  }
  console.log(
    `pmrep :SET beside the reference: ${compared.length} sets, ${lines} lines, ${differences.length} differences`,
  )
  expect(differences).toEqual([])
})

/** Command lines that once differed, compared by status and both streams. */
const LINES: readonly (readonly [archive: string, ...args: string[]])[] = [
  // Samples between two times, and intervals derived from them.
  ['ok-noti-interp', '-x', '-r', '-U', '-T', '+64.74', '-s', '8', 'pmcd.pmlogger.port'],
  ['pcp-numastat-1-node', '-x', '-s', '7', '-T', '+3.42', 'mem.numa.alloc.hit'],
  ['mark_no_mark_0', '-u', '-X', '', '-T', '+2.35', '-s', '3', 'pmcd.pmlogger.host', 'hinv.cpu.clock'],
  ['schizo-B', '-Y', 'sec', '-u', '-s', '3', '-T', '+3.54', 'schizo.data2'],
  // A damaged archive in a list.
  ['multi-corrupted', '-s', '10000', '-t', '1m', '-p', 'kernel.percpu.cpu.user'],
  ['multi-corrupted', '-u', '-p', 'kernel.percpu.cpu.user'],
  ['multi-corrupted', '-s', '10000', '-t', '10m', '-p', 'kernel.percpu.cpu.user'],
  // The order of instances that have values.
  [
    '20041125',
    '-1',
    '-X',
    'inst',
    '-s',
    '4',
    '-t',
    '576',
    '-S',
    '+645',
    'disk.dev.blkwrite',
    'network.interface.in.drops',
  ],
  ['20041125', '-X', 'inst', '-7', '-s', '4', '-t', '576', '-S', '+645', 'disk.dev.blkwrite'],
  ['20041125', '-1', '-J', '2', '-s', '4', '-t', '576', '-S', '+645', 'disk.dev.blkwrite'],
  // Instances selected twice, and none.
  ['schizo-A', '-s', '9', '-i', "'bin-300','bin-300'", 'sample.bin'],
  ['cputime', '-x', '-m', '-s', '3', '-i', "'cpu0','cpu1','cpu1'", 'kernel.percpu.cpu.steal'],
  ['pyapi', '-s', '2', '-i', "'nosuch'", 'kernel.percpu.interrupts'],
  // Predicates and sorting.
  ['node_archive', '-s', '1', '-N', 'pmcd.pmlogger.host', 'pmcd.pmlogger.host'],
  [
    '540117-short',
    '-s',
    '2',
    '-N',
    'irix.network.interface.out.errors',
    'irix.network.interface.out.qlength',
  ],
  ['omnibus-nomark_v2', '-s', '2', '-6', 'sample.ulong.million', 'sample.ulong.million'],
  [
    'rank-pred',
    '-u',
    '-X',
    'cpu',
    '-s',
    '4',
    '-6',
    '-kernel.pernode.cpu.user,kernel.pernode.cpu.sys',
    'kernel.pernode.cpu.user',
    'kernel.pernode.cpu.sys',
  ],
  ['daily_report', '-r', '-s', '5', '-N', 'kernel.all.cpu.nice', '-3', '-J', '2', 'kernel.all.cpu.nice'],
  // Units, texts without units, and meaningless derived metrics.
  ['rep', '-b', 'foo', '-s', '2', 'mem.util.used'],
  ['rep', '-b', 'KB / foo', '-s', '2', 'mem.util.used'],
  ['rep', '-b', 'sec', '-s', '2', 'mem.util.used'],
  ['wrap', '-s', '2', 'pmcd.pmlogger.archive,,,MB'],
  ['procpid-encode', '-s', '2', '-e', 'my.x=pmcd.pmlogger.host * 2', 'pmcd.pmlogger.port', 'my.x'],
  // Labels at the start of the report.
  ['omnibus-nomark_v2', '-w', '200', '-m', '-s', '1', '-S', '+0.56', 'sampledso.event.param_double'],
]

/** Our cluster labels include number 0 (docs/explanation/differences.md). */
const withoutCluster = (text: string): string =>
  text.replaceAll(",'cluster':'zero'", '').replaceAll(/ +/g, ' ')

test.skipIf(!canCompare).each(LINES)(
  'pmrep -a %s %s %s %s ...',
  { timeout: 60_000 },
  async (archive, ...rest) => {
    const args = ['-z', '-a', `${suiteFolder('archives')}/${archive}`, ...rest]
    const theirs = await run('/usr/bin/pmrep', args, { env })
    const io = testIo('pmrep', args, env)
    let status = 1
    try {
      status = await tool.run({
        ...io,
        now: Date.now,
        openArchive: (names, options) => openArchive(names, { ...options, nearest: false }),
      })
    } catch (error) {
      io.stderr.write(`pmrep: ${PcpError.from(error).message}\n`)
    }
    const { stdout, stderr } = io.printed
    expect({ stdout: withoutCluster(stdout), stderr, status }).toEqual({
      stdout: withoutCluster(theirs.stdout),
      stderr: theirs.stderr,
      status: theirs.status,
    })
  },
)

function firstDifference(theirs: string, ours: string): string {
  const [left, right] = [theirs.split('\n'), ours.split('\n')]
  const at = left.findIndex((line, i) => line !== right[i])
  return at < 0
    ? 'more lines here'
    : `line ${at + 1} is ${JSON.stringify(right[at])}, not ${JSON.stringify(left[at])}`
}

async function runHere(
  args: readonly string[],
  variables: Readonly<Record<string, string>> = env,
): Promise<string> {
  const io = testIo('pmrep', args, variables)
  try {
    await tool.run({
      ...io,
      now: Date.now,
      openArchive: (names, options) => openArchive(names, { ...options, nearest: false }),
    })
  } catch (error) {
    return `${io.printed.stdout}${PcpError.from(error).message}\n`
  }
  return io.printed.stdout
}
