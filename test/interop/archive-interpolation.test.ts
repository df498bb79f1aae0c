/**
 * Fetches from all archives of PCP's own tests at random moments, steps and directions, through our source and through PCP's library (a small
 * program compiled for it). ARCHIVE_FETCHES says how many, ARCHIVE_SEED from which seed.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { Archive } from '../../src/archive/archive.ts'
import { parseFileName } from '../../src/archive/file-names.ts'
import { RecordReader } from '../../src/archive/reader.ts'
import { ArchiveSource } from '../../src/archive/source.ts'
import { secondsBetween } from '../../src/base/timestamp.ts'
import type { MetricDesc } from '../../src/model/desc.ts'
import { isError, PcpError } from '../../src/model/errors.ts'
import { PM_INDOM_NULL, type Pmid } from '../../src/model/ids.ts'
import {
  PM_SEM_COUNTER,
  PM_TYPE_64,
  PM_TYPE_DOUBLE,
  PM_TYPE_STRING,
  PM_TYPE_U64,
} from '../../src/model/types.ts'
import type { FetchResult, ValueSet } from '../../src/model/values.ts'
import { archiveFiles } from '../../src/sys/archive-files.ts'
import { plainEnv, top } from './lib/programs.ts'
import { Random } from './lib/random.ts'

const DIRECTORY = '/var/lib/pcp/testsuite/archives'
const hasReference =
  existsSync(DIRECTORY) && existsSync('/usr/include/pcp/pmapi.h') && existsSync('/usr/bin/gcc')
if (!hasReference) console.log(`skipped: ${DIRECTORY}, PCP's headers or gcc are not installed`)

const SEED = Number(process.env['ARCHIVE_SEED'] ?? 1)
const FETCHES = Number(process.env['ARCHIVE_FETCHES'] ?? 100_000)
const FETCHES_A_RUN = 60
const MODES = { interpolate: 1, forward: 2, backward: 3 } as const

/** Archives that cannot be compared: blocks of 64 bits without a type, indexes off record boundaries. */
const LEFT_OUT = new Set([
  '960624.08.17_v2',
  'babylon.pmview_v2',
  'bozo.client_v2',
  'pcp-mpstat3',
  'binning',
  'pcp-mpstat2',
])

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

/** What the program prints, from our source. */
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

/** Why a pair of lines may differ; undefined when it may not; '' when it does not. */
function reasonFor(
  a: string,
  b: string,
  run: Run,
  descs: ReadonlyMap<Pmid, MetricDesc>,
  hasMarks: boolean,
): string | undefined {
  const [ourSets, theirSets] = [a.split(' '), b.split(' ')]
  let reason = ''
  for (let i = 0; i < Math.max(ourSets.length, theirSets.length); i++) {
    const [x = '', y = ''] = [ourSets[i], theirSets[i]]
    const desc = descs.get(Number(x.split(':')[0]))
    // The instance of a value without instances is nobody's business.
    const plain = (set: string): string =>
      desc?.indom === PM_INDOM_NULL ? set.replace(/,-?\d+=/g, ',=') : set
    if (plain(x) === plain(y)) continue
    if (run.mode === 'interpolate' && desc !== undefined && isRounding(plain(x), plain(y), desc))
      reason = 'rounding below zero'
    else if (run.mode === 'interpolate' && run.sign < 0 && hasMarks) reason = 'marks on the way back'
    else if (run.mode === 'interpolate' && hasMarks && y.endsWith(':0'))
      reason = 'the reference finds nothing behind a mark'
    else return undefined
  }
  return reason
}

/** Integers of counters that differ by one below zero, or that are beyond 2^63. */
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
  return m < 0n && (type === PM_TYPE_U64 || m - n === -1n || (type === PM_TYPE_64 && m === n))
}

function hasMark(archive: Archive): boolean {
  const reader = new RecordReader(archive, { checkValues: false })
  try {
    for (let record = reader.next(); record !== undefined; record = reader.next())
      if (record.count === 0) return true
  } catch {
    return true // damaged: as good as interrupted
  }
  return false
}

test.skipIf(!hasReference)(
  'gives what the reference gives',
  () => {
    const directory = mkdtempSync(join(tmpdir(), 'pcp-ts-interp-'))
    const program = join(directory, 'archive-fetch')
    const built = spawnSync(
      'gcc',
      ['-O1', '-o', program, join(top, 'test/interop/lib/archive-fetch.c'), '-lpcp'],
      { encoding: 'utf8' },
    )
    expect(built.stderr).toBe('')
    const random = new Random(SEED)
    const names = [
      ...new Set(readdirSync(DIRECTORY).flatMap((file) => parseFileName(file)?.base ?? [])),
    ].filter((name) => !LEFT_OUT.has(name))
    const differences: { line: string; ours: string; theirs: string }[] = []
    const reasons = new Map<string, number>()
    const seen = new Set<string>()
    let fetches = 0
    let values = 0
    let unanswered = 0
    for (let round = 0; round < 100 && fetches < FETCHES; round++) {
      for (const name of names) {
        const base = `${DIRECTORY}/${name}`
        let archive: Archive
        try {
          archive = Archive.open(base, archiveFiles())
        } catch {
          continue // what cannot be opened is compared in archives.test.ts
        }
        const { descs } = archive.metadata
        const known = [...descs.values()].filter(({ type }) => type >= 0 && type <= PM_TYPE_STRING)
        if (isError(archive.end()) || known.length === 0) continue
        const source = new ArchiveSource(archive, { nearest: false })
        const runs = Array.from({ length: 6 }, () => randomRun(archive, known, random))
        const input = `${runs.map((run) => line(base, run)).join('\n')}\n`
        const env = plainEnv({ PCP_DERIVED_CONFIG: '' })
        const answer = spawnSync(program, {
          input,
          env,
          encoding: 'utf8',
          maxBuffer: 2 ** 30,
          timeout: 20_000,
        })
        const theirs = answer.stdout
          .split('\n.\n')
          .slice(0, -1)
          .map((text) => text.split('\n'))
        const marked = hasMark(archive)
        unanswered += runs.length - theirs.length
        for (const [r, their] of theirs.entries()) {
          const run = runs[r]!
          const our = ours(source, run)
          for (let i = 0; i < Math.max(our.length, their.length); i++) {
            const [a = '', b = ''] = [our[i], their[i]]
            fetches++
            values += a.split('=').length - 1
            const reason = reasonFor(a, b, run, descs, marked)
            if (reason === '') continue
            if (reason === undefined) {
              differences.push({
                line: `${line(base, run)} fetch ${i}`,
                ours: a.slice(0, 300),
                theirs: b.slice(0, 300),
              })
              break
            }
            reasons.set(reason, (reasons.get(reason) ?? 0) + 1)
          }
          for (const id of run.ids) seen.add(`${run.mode} ${descs.get(id)!.type} ${descs.get(id)!.sem}`)
        }
        archive.close()
      }
    }
    rmSync(directory, { recursive: true })
    console.log(
      `${names.length} archives, ${fetches} fetches, ${values} values, ${seen.size} kinds, seed ${SEED}; ${unanswered} runs not answered by the reference`,
    )
    for (const [reason, count] of reasons) console.log(`${count} fetches differ: ${reason}`)
    expect(differences).toEqual([])
  },
  1_800_000,
)
