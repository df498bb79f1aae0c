/**
 * Compares archive mode of pminfo, pmprobe and pmval with the reference over a share of the archives of PCP's own tests, for pmval with few
 * metrics of each. An exhaustive run (CONTRIBUTING.md: Random tests) compares all archives, for pmval one metric of each type and semantics
 * and ten more. ARCHIVE_METRICS sets the number of metrics.
 */
import { existsSync } from 'node:fs'
import { expect, test } from 'vitest'
import { secondsBetween } from '../../src/base/timestamp.ts'
import type { MetricDesc } from '../../src/model/desc.ts'
import { isError } from '../../src/model/errors.ts'
import { PM_TYPE_NOSUPPORT } from '../../src/model/types.ts'
import { openArchive } from '../../src/pmapi/archive.ts'
import type { ArchiveControl } from '../../src/pmapi/archive-control.ts'
import type { Tool } from '../../src/tools/lib/tool.ts'
import { tool as pminfo } from '../../src/tools/pminfo/index.ts'
import { tool as pmprobe } from '../../src/tools/pmprobe.ts'
import { tool as pmval } from '../../src/tools/pmval/index.ts'
import { isExhaustive, seed } from '../lib/seed.ts'
import { testIo } from '../tools/run-tool.ts'
import { run } from './lib/programs.ts'
import { Random } from './lib/random.ts'
import { archivesOf, FOLDERS, hasSuite, suiteFolder } from './lib/suite.ts'

const hasArchives = hasSuite && existsSync('/usr/bin/pmval')
if (!hasArchives) console.log('skipped: the archives of the reference or /usr/bin/pmval are not installed')

const METRICS = Number(process.env['ARCHIVE_METRICS'] ?? (isExhaustive ? 100 : 3))
/** One archive in this many is compared, unless the run is exhaustive. */
const SHARE = 12
const env = { TZ: 'UTC', PCP_DERIVED_CONFIG: '' }

/** Known differences by `tool options archive [metric]`, with the reason; details in docs/explanation/differences.md. */
const KNOWN: readonly (readonly [pattern: RegExp, reason: string])[] = [
  [/all-sles9-sp1$/, 'the sign of a NaN, which we do not keep'],
  [/procpid-encode2$/, 'names that are not UTF-8, which this test cannot compare'],
  [
    /(960624\.08\.17_v2|babylon\.pmview_v2|bozo\.client_v2)$/,
    'blocks of 64 bits without a type: the reference swaps their bytes',
  ],
  [/(pcp-mpstat3|binning)$/, 'the index is off record boundaries, which the reference treats as damage'],
  [/pminfo -l pcp-pidstat-process-args$/, 'instances of a domain that has them only later'],
  [
    /pminfo -l (20190628\.04\.03|mirage-3|omnibus-nomark_v[23]|sample-labels|badmeta-[67])$/,
    'labels of cluster 0, which the reference omits',
  ],
  [
    /pminfo -l (bozo-vm-disk|old611)$/,
    'the reference labels instances of derived metrics with the labels of their domain',
  ],
  [/archive-20150417\.131733$/, 'the end is found despite damage'],
  [/(badlen-(1|2|3|11)|badlog-1|ok-truncbin)$/, 'damage is reported immediately, with its position'],
  [/(badlog-[34]|badti-2)$/, 'records that go backwards in time, and an index that does'],
  [/badti-4$/, 'an index that points between records is ignored'],
  [/pmprobe -iI badmeta-2$/, 'a count that runs into an error'],
  [/pmval -a badmeta-7$/, 'the reference loses the fraction of steps of years'],
  [
    /pmval -a \S+ sample\.wrap\.longlong$/,
    "our interpolation is exact even if the reference's sum overflows",
  ],
  [/pmval -\w (logsummary-bug|archive-20141125-000009)$/, 'values of one metric in two formats'],
]

interface Output {
  readonly status: number | null
  readonly stdout: string
  readonly stderr: string
}

interface Difference {
  readonly what: string
  readonly ours: string
  readonly theirs: string
}

let runs = 0
let lines = 0

async function compare(
  tool: Tool,
  args: readonly string[],
  extra: Readonly<Record<string, string>> = {},
): Promise<Difference | undefined> {
  const theirs = await run(`/usr/bin/${tool.name}`, args, { env: { ...env, ...extra } })
  const ours = await runOurs(tool, args, { ...env, ...extra })
  runs++
  lines += theirs.stdout.split('\n').length
  if (ours.stdout === theirs.stdout && ours.stderr === theirs.stderr && ours.status === theirs.status)
    return undefined
  const what = `${tool.name} ${args.join(' ')}`
  const isRounded = tool === pmval && ours.stderr === theirs.stderr && ours.status === theirs.status
  if (isRounded && isLastDigit(ours.stdout, theirs.stdout)) return { what, ours: LAST_DIGIT, theirs: '' }
  return { what, ...firstDifference(ours, theirs) }
}

const LAST_DIGIT = 'the last digit of a rate: two times are rounded to doubles before they are subtracted'

/** Returns whether all lines agree except for the last digit of rates. */
function isLastDigit(ours: string, theirs: string): boolean {
  const [a, b] = [ours, theirs].map((text) => text.split(/\s+/)) as [string[], string[]]
  return (
    a.length === b.length &&
    a.every((word, i) => {
      const other = b[i]!
      if (word === other) return true
      if (!/^\d*\.\d+$/.test(word) || word.length !== other.length) return false
      const unit = 10 ** -(word.length - word.indexOf('.') - 1)
      return Math.abs(Number(word) - Number(other)) < 1.5 * unit
    })
  )
}

/** Runs a tool; like the installed release, it interpolates from the earlier observation. */
async function runOurs(
  tool: Tool,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<Output> {
  const io = testIo(tool.name, args, env)
  const earlier: typeof openArchive = (list, options) => openArchive(list, { ...options, nearest: false })
  let status = 1
  try {
    status = await tool.run({ ...io, openArchive: earlier })
  } catch (error) {
    io.stderr.write(`${tool.name}: ${(error as Error).message}\n`)
  }
  return { status, ...io.printed }
}

function firstDifference(ours: Output, theirs: Output): { ours: string; theirs: string } {
  const text = ({ stdout, stderr, status }: Output): string[] => [
    ...stdout.split('\n'),
    ...stderr.split('\n'),
    `status ${status}`,
  ]
  const [a, b] = [text(ours), text(theirs)]
  const i = a.findIndex((line, k) => line !== b[k])
  return { ours: (a[i] ?? '').slice(0, 160), theirs: (b[i < 0 ? a.length : i] ?? '').slice(0, 160) }
}

/** Returns one metric of each type and semantics, and ten more. */
function someMetrics(descs: ReadonlyMap<string, MetricDesc>, random: Random): string[] {
  const kinds = new Map<string, string>()
  for (const [name, { type, sem }] of descs)
    if (type !== PM_TYPE_NOSUPPORT && !kinds.has(`${type} ${sem}`)) kinds.set(`${type} ${sem}`, name)
  const all = [...descs.keys()]
  const chosen = new Set(kinds.values())
  for (let n = 0; n < 10; n++) chosen.add(random.pick(all))
  const list = [...chosen]
  while (list.length > METRICS) list.splice(random.int(0, list.length - 1), 1)
  return list
}

/** Returns the seconds from start to end; a minute if the end is unknown. */
function spanOf(archive: ArchiveControl): number {
  try {
    return secondsBetween(archive.start, archive.end())
  } catch {
    return 60
  }
}

async function compareArchive(base: string, random: Random): Promise<(Difference | undefined)[]> {
  const found = [
    await compare(pminfo, ['-df', '-a', base]),
    await compare(pminfo, ['-l', '-a', base]),
    await compare(pmprobe, ['-v', '-a', base]),
    await compare(pmprobe, ['-iI', '-a', base]),
  ]
  const context = await openArchive(base).catch(() => undefined)
  if (context === undefined) return found
  try {
    const all = (await context.traverse('')).filter((one) => !one.startsWith('event.'))
    const ids = (await context.lookupNames(all)).map((id) => (isError(id) ? -1 : id))
    const descs = await context.descs(ids)
    const known = new Map(
      all.flatMap((one, i) => (isError(descs[i]!) ? [] : [[one, descs[i] as MetricDesc] as const])),
    )
    const span = spanOf(context.archive!)
    for (const metric of someMetrics(known, random)) {
      found.push(await compare(pmval, ['-U', base, '-s', '500', metric]))
      for (const part of [7, 60]) {
        const step = Math.max(0.001, Math.floor((span / part) * 1000) / 1000)
        found.push(await compare(pmval, ['-a', base, '-t', `${step}sec`, metric]))
      }
    }
  } finally {
    await context.close()
  }
  return found
}

/** Returns the reason of a known difference. */
function reasonFor(what: string): string | undefined {
  const [tool, options] = what.split(' ')
  const archive = / \/\S*\/(\S+)/.exec(what)![1]
  const subjects = [
    `${tool} ${options} ${archive}`,
    `${tool} ${options} ${archive} ${what.split(' ').at(-1)}`,
  ]
  return KNOWN.find(([pattern]) => subjects.some((subject) => pattern.test(subject)))?.[1]
}

test.skipIf(!hasArchives)(
  'prints the same as the reference',
  async () => {
    const random = new Random(seed)
    const differences: Difference[] = []
    const excused = new Map<string, number>()
    const bases = FOLDERS.flatMap((folder) =>
      archivesOf(folder, SHARE, 2).map((name) => `${suiteFolder(folder)}/${name}`),
    )
    for (const base of bases) {
      for (const difference of await compareArchive(base, random)) {
        if (difference === undefined) continue
        const reason = difference.ours === LAST_DIGIT ? LAST_DIGIT : reasonFor(difference.what)
        if (reason === undefined) differences.push(difference)
        else excused.set(reason, (excused.get(reason) ?? 0) + 1)
      }
    }
    console.log(`${bases.length} archives, ${runs} runs, ${lines} lines compared, seed ${seed}`)
    for (const [reason, count] of excused) console.log(`${count} runs differ: ${reason}`)
    expect(differences).toEqual([])
  },
  3_600_000,
)
