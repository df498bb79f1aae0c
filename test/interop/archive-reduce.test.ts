/**
 * Compares pmlogreduce with the reference, as shown by its pmdumplog, over a share of the archives of PCP's own tests with options that
 * change daily (CONTRIBUTING.md: Random tests).
 */
import { existsSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { tool } from '../../src/tools/pmlogreduce/index.ts'
import { seed } from '../lib/seed.ts'
import { testIo } from '../tools/run-tool.ts'
import { run } from './lib/programs.ts'
import { Random } from './lib/random.ts'
import { archivesOf, hasSuite, suiteFolder } from './lib/suite.ts'

const REFERENCE = '/usr/lib/pcp/bin/pmlogreduce'
const canCompare = hasSuite && existsSync(REFERENCE)
if (!canCompare) console.log(`skipped: the archives of the reference or ${REFERENCE} are not installed`)

const SHARE = 6
/** Archives larger than this take too long for a share. */
const MOST_BYTES = 2_000_000

/** Errors of the reference; details in docs/explanation/differences.md. */
const KNOWN: readonly (readonly [archive: RegExp, reason: string])[] = [
  [/_v3$/, 'times of the reference have whole microseconds'],
  [
    /^(960624\.08\.17|babylon\.pmview|bozo\.client)_v2$/,
    'the reference swaps the bytes of blocks without a type',
  ],
]

/** The reference rounds negative integers upwards, and values between two counters beyond 2^53, which are small after a wrap. */
const INTEGER = /value (-?\d+)$/
const [LARGE, WRAPS, ROUNDED] = [1e15, 'sample.wrap.longlong', 1e-10]
/** The reference writes values of instances before their names. */
const INSTANCE = /\[(-?\d+) or (?:\?\?\?|".*")\]/

function randomArgs(random: Random): string[] {
  const args = ['-z', '-t', random.pick(['7s', '1min', '2min', '10min', '1hour'])]
  if (random.chance(0.3)) args.push('-s', String(random.int(1, 9)))
  if (random.chance(0.3)) args.push('-v', String(random.int(1, 4)))
  return args
}

function randomEnv(random: Random): Record<string, string> {
  const env: Record<string, string> = { PCP_INTERP_EARLIER: '1' }
  if (random.chance(0.3)) env['PCP_COUNTER_WRAP'] = '1'
  if (random.chance(0.3)) env['PCP_IGNORE_MARK_RECORDS'] = random.pick(['', '5min'])
  return env
}

async function dump(base: string): Promise<string[]> {
  const { stdout } = await run('/usr/bin/pmdumplog', ['-z', '-d', '-m', base], { env: { TZ: 'UTC' } })
  return stdout.replaceAll(base, 'ARCHIVE').split('\n')
}

/** The end of an archive as in records of a dump. */
async function endOf(base: string): Promise<string | undefined> {
  const { stdout } = await run('/usr/bin/pmdumplog', ['-z', '-l', base], { env: { TZ: 'UTC' } })
  return /^ *ending .* ([\d:.]+) \d+$/m.exec(stdout)?.[1]
}

/** Removes the last record of a dump if it is at that time: the reference loses its values if the index of the input has an entry there. */
function withoutEnd(dumped: readonly string[], end: string | undefined): readonly string[] {
  const last = dumped.findLastIndex((line) => /^[\d:.]+ \d+ metrics?$/.test(line))
  return end !== undefined && dumped[last]?.startsWith(`${end} `) === true ? dumped.slice(0, last) : dumped
}

function isSame(ours: string, theirs: string): boolean {
  const [a, b] = [ours, theirs].map((line) => line.replace(INSTANCE, '[$1]'))
  if (a === b) return true
  const [own, other] = [a!, b!].map((line) => Number(INTEGER.exec(line)?.[1]))
  const isRounded = Math.abs(other!) >= LARGE || a!.includes(WRAPS)
  const most = (isRounded ? Math.abs(other!) * ROUNDED : 0) + (other! < 0 ? 1 : 0)
  return a!.replace(INTEGER, '') === b!.replace(INTEGER, '') && Math.abs(own! - other!) <= most
}

test.runIf(canCompare)('reduced archives have the same records, and -v and -s count them alike', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'reduce-interop-'))
  const random = new Random(seed)
  const different: string[] = []
  const counts = { archives: 0, refused: 0, lines: 0 }
  try {
    for (const name of archivesOf('archives', SHARE, 5)) {
      const input = join(suiteFolder('archives'), name)
      if (!existsSync(`${input}.0`) || statSync(`${input}.0`).size > MOST_BYTES) continue
      if (KNOWN.some(([archive]) => archive.test(name))) continue
      const args = randomArgs(random)
      const env = randomEnv(random)
      const at = mkdtempSync(join(dir, 'case-'))
      const [ours, theirs] = [join(at, 'ours'), join(at, 'theirs')]
      const io = testIo('pmlogreduce', [...args, input, ours], env)
      const status = await tool.run(io)
      const reference = await run(REFERENCE, [...args, input, theirs], { env })
      // The reference aborts for instances of metrics without an instance domain, among others.
      if (reference.status !== 0) {
        counts.refused++
        continue
      }
      counts.archives++
      const end = await endOf(input)
      const [a, b] = [withoutEnd(await dump(ours), end), withoutEnd(await dump(theirs), end)]
      counts.lines += b.length
      const what = `${name} ${args.join(' ')} ${JSON.stringify(env)}`
      if (status !== 0 || io.printed.stderr !== reference.stderr)
        different.push(`${what}: ${status} ${io.printed.stderr} ${reference.stderr}`)
      const place = b.findIndex((line, i) => !isSame(a[i] ?? '', line))
      if (place >= 0 || a.length !== b.length)
        different.push(`${what}, line ${place}:\n${a[place]}\n${b[place]}`)
      rmSync(at, { recursive: true })
    }
  } finally {
    rmSync(dir, { recursive: true })
  }
  console.log(
    `pmlogreduce: ${counts.archives} archives, ${counts.lines} lines, ${counts.refused} refused by the reference, seed ${seed}`,
  )
  expect(different).toEqual([])
  expect(counts.archives).toBeGreaterThan(0)
})
