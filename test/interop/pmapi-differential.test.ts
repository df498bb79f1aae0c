/** Compares random calls of the reference library and of ours: 10,000 per run. CONTRIBUTING.md: Random tests */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { seed } from '../lib/seed.ts'
import type { Call, Kind } from './lib/pmapi-calls.ts'
import { hasReference } from './lib/programs.ts'
import { Random } from './lib/random.ts'
import { TIME_KINDS } from './lib/time-calls.ts'
import { VALUE_KINDS } from './lib/value-calls.ts'

const KINDS: readonly Kind[] = [...VALUE_KINDS, ...TIME_KINDS]

const canCompile = existsSync('/usr/include/pcp/pmapi.h') && spawnSync('gcc', ['--version']).status === 0
const isPossible = hasReference && canCompile
if (!isPossible) console.log("skipped: needs the reference's headers (libpcp3-dev) and gcc")

interface Compared {
  readonly kind: Kind
  readonly call: Call
  readonly theirs: string
}

const compared: Compared[] = []
let dir = ''

beforeAll(() => {
  if (!isPossible) return
  dir = mkdtempSync(join(tmpdir(), 'pmapi-calls-'))
  const program = join(dir, 'calls')
  const source = join(import.meta.dirname, 'lib/pmapi-calls.c')
  const built = spawnSync('gcc', ['-O1', '-rdynamic', '-o', program, source, '-lpcp'], { encoding: 'utf8' })
  expect(built.stderr).toBe('')
  const random = new Random(seed)
  const calls = KINDS.flatMap((kind) =>
    Array.from({ length: kind.count }, () => ({ kind, call: kind.make(random) })),
  )
  const input = `${calls.map(({ call }) => call.line).join('\n')}\n`
  const { stdout } = spawnSync(program, { input, encoding: 'utf8', maxBuffer: 2 ** 26 })
  const answers = stdout.split('\n').slice(0, -1)
  expect(answers).toHaveLength(calls.length)
  compared.push(...calls.map((pair, i) => ({ ...pair, theirs: answers[i]! })))
})

afterAll(() => {
  if (dir !== '') rmSync(dir, { recursive: true })
})

/** Returns whether results are equal, without the program's additions for explanations. */
function isSame(ours: string, theirs: string, kind: Kind): boolean {
  return kind.name === 'scale' ? theirs.split('\t').slice(0, 2).join('\t') === ours : ours === theirs
}

/** Returns unexplained differences; `answer` may introduce a defect into ours. Counts reasons. */
function differences(
  answer: (kind: Kind, ours: string) => string,
  reasons = new Map<string, number>(),
): string[] {
  const found: string[] = []
  for (const { kind, call, theirs } of compared) {
    const ours = answer(kind, call.ours())
    if (isSame(ours, theirs, kind)) continue
    const why = kind.explain(call, ours, theirs)
    if (why === undefined) found.push(`${kind.name}: ${call.line}\n  ours   ${ours}\n  theirs ${theirs}`)
    else reasons.set(`${kind.name}: ${why}`, (reasons.get(`${kind.name}: ${why}`) ?? 0) + 1)
  }
  return found
}

test.runIf(isPossible)('calls differ only for known reasons', () => {
  const reasons = new Map<string, number>()
  const found = differences((_kind, ours) => ours, reasons)
  console.log(`seed ${seed}: ${compared.length} calls; reasons:`, Object.fromEntries(reasons))
  expect(found.slice(0, 20).join('\n')).toBe('')
})

test.runIf(isPossible)('every pair of types, unit and form is covered', () => {
  const counts = new Map<string, number>()
  for (const { kind, call } of compared)
    for (const covered of call.covers) {
      const key = `${kind.name}: ${covered}`
      counts.set(key, (counts.get(key) ?? 0) + 1)
    }
  console.log(
    'covered:',
    [...counts]
      .map(([key, count]) => `${key} ${count}`)
      .sort()
      .join(', '),
  )
  expect(compared).toHaveLength(10_000)
  expect([...counts.keys()].filter((key) => key.startsWith('extract:'))).toHaveLength(49)
  for (const kind of KINDS)
    for (const covered of kind.covers) expect(counts.get(`${kind.name}: ${covered}`) ?? 0).toBeGreaterThan(0)
})

/** Ten possible defects, as changes of our results. */
const DEFECTS: readonly (readonly [string, string, (ours: string) => string])[] = [
  ['truncation is not an error', 'extract', (ours) => (ours === '-12363\t' ? '0\t0' : ours)],
  ['negative values pass as unsigned', 'extract', (ours) => (ours === '-12364\t' ? '-12363\t' : ours)],
  [
    'integers are rounded down',
    'scale',
    (ours) => ours.replace(/^0\t(\d{1,9})$/, (_, n) => `0\t${Math.max(0, n - 1)}`),
  ],
  ['other dimensions convert', 'scale', (ours) => (ours === '-12362\t' ? '0\t1' : ours)],
  ['the slash has no blank before it', 'units text', (ours) => ours.replace(' / ', '/ ')],
  [
    'count and time change places',
    'units parsed',
    (ours) => ours.replace(/^0\t(-?\d+),(-?\d+),(-?\d+)/, '0\t$1,$3,$2'),
  ],
  [
    'the multiplier is forgotten',
    'units parsed',
    (ours) => ours.replace(/^(0\t[-\d,]+)\t.*/, '$1\t3ff0000000000000'),
  ],
  [
    'a microsecond is missing',
    'interval',
    (ours) => ours.replace(/(\d{3})(\d{3})$/, (_, a, b) => `${a === '000' ? '001' : a}${b}`),
  ],
  ['the origin is the start', 'window', (ours) => ours.replace(/^1\t(\S+) (\S+) \S+$/, '1\t$1 $2 $1')],
  ['days are not padded', 'zone', (ours) => ours.replace(/(\w{3} \w{3}) {2}/, '$1 ')],
]

test.runIf(isPossible).each(DEFECTS)('a seeded defect is found: %s (%s)', (_what, name, spoil) => {
  const found = differences((kind, ours) => (kind.name === name ? spoil(ours) : ours))
  console.log(`${_what}: ${found.length} differences`)
  expect(found.length).toBeGreaterThan(0)
})
