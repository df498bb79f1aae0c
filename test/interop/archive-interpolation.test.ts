/**
 * Fetches from archives of PCP's own tests at random times, steps and directions, through our source and through PCP's library (a small
 * compiled program). Uses some of the archives, or all in an exhaustive run (CONTRIBUTING.md: Random tests). ARCHIVE_FETCHES sets the number
 * of fetches, ARCHIVE_ONLY the list of archives.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { Archive } from '../../src/archive/archive.ts'
import { parseFileName } from '../../src/archive/file-names.ts'
import { ArchiveSource } from '../../src/archive/source.ts'
import { secondsBetween } from '../../src/base/timestamp.ts'
import type { MetricDesc } from '../../src/model/desc.ts'
import { isError, PcpError } from '../../src/model/errors.ts'
import { PM_INDOM_NULL, type Pmid } from '../../src/model/ids.ts'
import {
  PM_SEM_COUNTER,
  PM_TYPE_32,
  PM_TYPE_64,
  PM_TYPE_DOUBLE,
  PM_TYPE_STRING,
  PM_TYPE_U32,
  PM_TYPE_U64,
} from '../../src/model/types.ts'
import type { FetchResult, ValueSet } from '../../src/model/values.ts'
import { archiveFiles } from '../../src/sys/archive-files.ts'
import { isExhaustive, seed } from '../lib/seed.ts'
import { plainEnv, top } from './lib/programs.ts'
import { Random } from './lib/random.ts'

const DIRECTORY = '/var/lib/pcp/testsuite/archives'
const hasReference =
  existsSync(DIRECTORY) && existsSync('/usr/include/pcp/pmapi.h') && existsSync('/usr/bin/gcc')
if (!hasReference) console.log(`skipped: ${DIRECTORY}, PCP's headers or gcc are not installed`)

const FETCHES = Number(process.env['ARCHIVE_FETCHES'] ?? (isExhaustive ? 200_000 : 2500))
const FETCHES_A_RUN = 60
const MODES = { interpolate: 1, forward: 2, backward: 3 } as const

/** Archives whose index is off record boundaries, which the reference treats as damage. */
const LEFT_OUT = new Set(['pcp-mpstat3', 'binning', 'pcp-mpstat2'])
/** Archives with 64-bit blocks without a type, whose bytes the reference swaps: only words are compared. */
const UNTYPED = /(960624\.08\.17_v2|babylon\.pmview_v2|bozo\.client_v2)$/

interface Run {
  readonly mode: keyof typeof MODES
  readonly when: { readonly sec: number; readonly nsec: number }
  readonly stepNanos: number
  readonly sign: 1 | -1
  readonly ids: readonly Pmid[]
}

function randomRun(archive: Archive, descs: readonly MetricDesc[], random: Random): Run {
  const { start } = archive
  const span = secondsBetween(start, archive.end() as typeof start)
  const at = random.chance(0.3) ? 0 : span * (random.next() * 1.02 - 0.005)
  const nsec = start.nsec + Math.round((at - Math.floor(at)) * 1e9)
  const when = { sec: start.sec + Math.floor(at) + Math.floor(nsec / 1e9), nsec: nsec % 1e9 }
  const step = random.chance(0.5) ? span / random.int(5, 200) : random.pick([0.5, 1, 2, 5, 10, 60])
  const ids = new Set(Array.from({ length: random.int(1, 6) }, () => random.pick(descs).pmid))
  const mode = random.chance(0.8) ? 'interpolate' : random.pick(['forward', 'backward'] as const)
  return {
    mode,
    when,
    stepNanos: Math.max(1, Math.floor(step * 1e9)),
    sign: random.chance(0.6) ? 1 : -1,
    ids: [...ids],
  }
}

function line(base: string, { mode, when, stepNanos, sign, ids }: Run): string {
  const step = [sign * Math.floor(stepNanos / 1e9), sign * (stepNanos % 1e9)]
  return [base, MODES[mode], when.sec, when.nsec, ...step, FETCHES_A_RUN, ...ids].join(' ')
}

/** Returns the program's output computed by our source. */
function ours(source: ArchiveSource, { mode, when, stepNanos, sign, ids }: Run): string[] {
  const lines: string[] = []
  source.setMode(mode, when, (sign * stepNanos) / 1e9)
  try {
    while (lines.length < FETCHES_A_RUN)
      lines.push(shown(source.fetchNow(ids), source.archive.metadata.descs))
  } catch (error) {
    lines.push(`E ${PcpError.from(error).status}`)
  }
  return lines
}

function shown({ timestamp, sets }: FetchResult, descs: ReadonlyMap<Pmid, MetricDesc>): string {
  return `T ${timestamp.sec} ${timestamp.nsec}${sets.map((set) => shownSet(set, descs.get(set.pmid)!)).join('')}`
}

function shownSet(set: ValueSet, { type }: MetricDesc): string {
  let text = ` ${set.pmid}:${set.status}`
  for (let i = 0; i < set.status; i++) {
    const at = set.word[i]!
    text += `,${set.inst[i]}=`
    if (set.format === 0) text += `i${(at >>> 0).toString(16).padStart(8, '0')}`
    else {
      const bytes = Buffer.from(set.bytes)
      const data = Buffer.from(bytes.subarray(at + 4, at + (bytes.readInt32BE(at) & 0xffffff)))
      text += (type <= PM_TYPE_DOUBLE ? data.reverse() : data).toString('hex')
    }
  }
  return text
}

/** Returns why our value set may differ from the reference's; undefined if it must not, '' if they are equal. */
function reasonFor(
  x: string,
  y: string,
  desc: MetricDesc | undefined,
  isRead: boolean,
  unmarked: () => string,
): string | undefined {
  // The instance id of a value without instances does not matter.
  const plain = (set: string): string => (desc?.indom === PM_INDOM_NULL ? set.replace(/,-?\d+=/g, ',=') : set)
  if (plain(x) === plain(y)) return ''
  if (isRead || desc === undefined) return undefined
  if (isRounding(plain(x), plain(y), desc)) return 'rounding below zero or beyond 2^53'
  if (plain(y) === plain(unmarked())) return 'a mark missed by the reference'
  return undefined
}

/** Returns why two lines may differ, like `reasonFor`. */
function reasonForLines(a: string, b: string, run: Run, archive: Archive): string | undefined {
  // The reference does not carry a full second of nanoseconds.
  const carried = b.replace(/^T (\d+) 1000000000\b/, (_, sec) => `T ${Number(sec) + 1} 0`)
  const [ourSets, theirSets] = [a.split(' '), carried.split(' ')]
  let reason = carried === b ? '' : 'nanoseconds not carried'
  for (let i = 0; i < Math.max(ourSets.length, theirSets.length); i++) {
    const [x = '', y = ''] = [ourSets[i], theirSets[i]]
    const desc = archive.metadata.descs.get(Number(x.split(':')[0]))
    const unmarked = (): string =>
      isInterrupted(archive, desc!.pmid, ourSets) ? withoutMarks(archive, run, ourSets)[i]! : x
    const why = reasonFor(x, y, desc, run.mode !== 'interpolate', unmarked)
    if (why === undefined) return undefined
    if (why !== '') reason = why
  }
  return reason
}

/** Returns whether there is a mark between the records with a metric before and after a line's time. */
function isInterrupted(archive: Archive, id: Pmid, [, sec, nsec]: readonly string[]): boolean {
  const source = new ArchiveSource(archive)
  const seek = (mode: 'forward' | 'backward'): FetchResult | undefined => {
    source.setMode(mode, { sec: Number(sec), nsec: Number(nsec) })
    try {
      return source.fetchNow([id])
    } catch {
      return undefined // after the last one
    }
  }
  const next = seek('forward')?.timestamp
  const prior = seek('backward')?.timestamp
  source.setMode('forward', prior ?? archive.start)
  for (;;) {
    try {
      const { timestamp, sets } = source.fetchRecord([id])
      if (next !== undefined && secondsBetween(next, timestamp) > 0) return false
      if (sets.length === 0) return true
    } catch {
      return false
    }
  }
}

/** Returns our values at a line's time as if the archive had no marks. */
function withoutMarks(archive: Archive, { ids, sign, stepNanos }: Run, [, sec, nsec]: string[]): string[] {
  const source = new ArchiveSource(archive, { nearest: false, ignoreMarksSec: 0 })
  source.setMode('interpolate', { sec: Number(sec), nsec: Number(nsec) }, (sign * stepNanos) / 1e9)
  return shown(source.fetchNow(ids), archive.metadata.descs).split(' ')
}

/** Returns whether integers of counters differ only by rounding: by one below zero, by a double's last place beyond 2^53, or beyond 2^63. */
function isRounding(a: string, b: string, { type, sem }: MetricDesc): boolean {
  if (sem !== PM_SEM_COUNTER || type > PM_TYPE_U64) return false
  const [x, y] = [a.split(','), b.split(',')]
  return x.length === y.length && x.every((one, i) => one === y[i] || isNear(one, y[i]!, type))
}

function isNear(a: string, b: string, type: number): boolean {
  const [p, q] = [a.split('='), b.split('=')]
  if (p[0] !== q[0] || p[1] === undefined || q[1] === undefined) return false
  const number = (hex: string): bigint =>
    hex.startsWith('i')
      ? BigInt.asIntN(32, BigInt(`0x${hex.slice(1)}`))
      : BigInt.asIntN(64, Buffer.from(hex, 'hex').readBigUInt64LE())
  const [m, n] = [number(p[1]), number(q[1])]
  // The reference turns an overflowing sum into the most negative integer.
  if (n === -(2n ** 63n) || (n === -(2n ** 31n) && type === PM_TYPE_32)) return true
  // Near 2^63 the reference multiplies growth by times in seconds, whose last bit exceeds the last place of the value.
  const bits = (m < 0n ? -m : m).toString(2).length
  const off = m > n ? m - n : n - m
  if ((type === PM_TYPE_64 || type === PM_TYPE_U64) && bits > 40 && off <= 1n << 23n) return true
  return m < 0n && (type === PM_TYPE_U64 || m - n === -1n || (type === PM_TYPE_64 && m === n))
}

/** Runs an archive's runs in one context of the reference's library; undefined for a run that crashes it, after which it restarts. */
function theirs(program: string, runs: readonly string[]): (readonly string[] | undefined)[] {
  const answers: (readonly string[] | undefined)[] = []
  while (answers.length < runs.length) {
    const { stdout } = spawnSync(program, {
      input: `${runs.slice(answers.length).join('\n')}\n`,
      env: plainEnv({ PCP_DERIVED_CONFIG: '' }),
      encoding: 'utf8',
      maxBuffer: 2 ** 30,
      timeout: 20_000,
    })
    for (const text of stdout.split('\n.\n').slice(0, -1)) answers.push(text.split('\n'))
    if (answers.length < runs.length) answers.push(undefined)
  }
  return answers
}

const counts = { fetches: 0, values: 0 }
/** Archives of runs in which the reference crashed or timed out. */
const unanswered: string[] = []
const reasons = new Map<string, number>()
const kinds = new Set<string>()
const differences: { line: string; ours: string; theirs: string }[] = []

/** Compares a run up to the first unexplained difference. */
function compareRun(
  program: string,
  base: string,
  run: Run,
  source: ArchiveSource,
  their: readonly string[],
): void {
  const { archive } = source
  const our = ours(source, run)
  let alone: readonly string[] | undefined
  for (let i = 0; i < Math.max(our.length, their.length); i++) {
    const [a = '', b = ''] = [our[i], their[i]]
    counts.fetches++
    counts.values += a.split('=').length - 1
    let reason = reasonForLines(a, b, run, archive)
    if (reason === undefined) {
      // The library's state depends on more than where earlier runs ended.
      alone ??= theirs(program, [line(base, run)])[0] ?? []
      if (reasonForLines(a, alone[i] ?? '', run, archive) !== undefined)
        reason = 'absent when the run has a separate context'
    }
    if (reason === undefined) {
      differences.push({
        line: `${line(base, run)} fetch ${i}`,
        ours: a.slice(0, 300),
        theirs: b.slice(0, 300),
      })
      return
    }
    if (reason !== '') reasons.set(reason, (reasons.get(reason) ?? 0) + 1)
  }
}

function compareArchive(program: string, base: string, runCount: number, random: Random): void {
  let archive: Archive
  try {
    archive = Archive.open(base, archiveFiles())
  } catch {
    return // archives that cannot be opened are compared in archives.test.ts
  }
  const { descs } = archive.metadata
  const most = UNTYPED.test(base) ? PM_TYPE_U32 : PM_TYPE_STRING
  const known = [...descs.values()].filter(({ type }) => type >= 0 && type <= most)
  if (!isError(archive.end()) && known.length > 0) {
    const source = new ArchiveSource(archive, { nearest: false })
    const runs = Array.from({ length: runCount }, () => randomRun(archive, known, random))
    const answers = theirs(
      program,
      runs.map((run) => line(base, run)),
    )
    for (const [r, their] of answers.entries()) {
      const run = runs[r]!
      if (their === undefined) unanswered.push(base.slice(DIRECTORY.length + 1))
      else compareRun(program, base, run, source, their)
      for (const id of run.ids) kinds.add(`${run.mode} ${descs.get(id)!.type} ${descs.get(id)!.sem}`)
    }
  }
  archive.close()
}

test.skipIf(!hasReference)(
  'returns the same values as the reference',
  () => {
    const directory = mkdtempSync(join(tmpdir(), 'pcp-ts-interp-'))
    const program = join(directory, 'archive-fetch')
    const built = spawnSync(
      'gcc',
      ['-O1', '-o', program, join(top, 'test/interop/lib/archive-fetch.c'), '-lpcp'],
      { encoding: 'utf8' },
    )
    expect(built.stderr).toBe('')
    const random = new Random(seed)
    const only = process.env['ARCHIVE_ONLY']
    const names = [
      ...new Set(readdirSync(DIRECTORY).flatMap((file) => parseFileName(file)?.base ?? [])),
    ].filter((name) => !LEFT_OUT.has(name) && (only === undefined || only.split(',').includes(name)))
    const runCount = Math.min(6, Math.ceil(FETCHES / names.length / 45))
    let archives = 0
    for (let round = 0; round < 100 && counts.fetches < FETCHES; round++)
      for (const name of random.shuffled(names)) {
        if (counts.fetches >= FETCHES) break
        if (round === 0) archives++
        compareArchive(program, `${DIRECTORY}/${name}`, runCount, random)
      }
    rmSync(directory, { recursive: true })
    console.log(
      `${archives} archives, ${counts.fetches} fetches, ${counts.values} values, ${kinds.size} kinds, seed ${seed}; ${unanswered.length} runs not answered by the reference: ${unanswered.join(' ')}`,
    )
    for (const [reason, count] of reasons) console.log(`${count} fetches differ: ${reason}`)
    expect(differences).toEqual([])
  },
  3_600_000,
)
