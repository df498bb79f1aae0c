/** Compares random derived metrics in the reference library and in ours, over the same archive. CONTRIBUTING.md: Random tests */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { formatG } from '../../src/base/printf.ts'
import { PcpError } from '../../src/model/errors.ts'
import { indomStr } from '../../src/model/ids.ts'
import { PM_TYPE_DOUBLE, PM_TYPE_FLOAT } from '../../src/model/types.ts'
import { unitsStr } from '../../src/model/units.ts'
import { valuesOf } from '../../src/model/value-set.ts'
import type { ValueSet } from '../../src/model/values.ts'
import { openArchive } from '../../src/pmapi/archive.ts'
import { writeDataset } from '../derive/dataset-archive.ts'
import { isExhaustive, seed } from '../lib/seed.ts'
import { type DerivedCase, DerivedCases, reasonFor } from './lib/derived-cases.ts'
import { hasReference, plainEnv } from './lib/programs.ts'
import { Random } from './lib/random.ts'

const CASES = isExhaustive ? 40_000 : 1500
/** Cases that are the same every day, so that rules and defects are not found by luck. */
const FIXED_CASES = 1500
const FIXED_SEED = 1
const FETCHES = 6
/** Number of rules, operators and functions that `DerivedCases` covers. */
const COVERED = 43
const isPossible =
  hasReference && existsSync('/usr/include/pcp/pmapi.h') && spawnSync('gcc', ['--version']).status === 0
if (!isPossible) console.log("skipped: needs the reference's headers (libpcp3-dev) and gcc")

let dir = ''
let base = ''
const cases: { readonly made: DerivedCase; readonly theirs: string; readonly ours: string }[] = []

function printed(set: ValueSet, type: number): string {
  if (set.status < 0) return String(set.status)
  return valuesOf(set, type)
    .map(({ inst, value }) => {
      const text =
        type === PM_TYPE_DOUBLE
          ? formatG(value as number, 17)
          : type === PM_TYPE_FLOAT
            ? formatG(value as number, 9)
            : String(value)
      return `${inst}=${text}`
    })
    .join(' ')
}

function casesOf(start: number, length: number): DerivedCase[] {
  const maker = new DerivedCases(new Random(start))
  return Array.from({ length }, () => maker.make())
}

/** Returns our line for an expression in the format of derived-calls.c. */
async function answer(text: string): Promise<string> {
  const context = await openArchive(base, { env: {} })
  try {
    const id = await context.addDerived('d.x', text)
    const marker = await context.lookupName('g.s32.i')
    const { type, indom, sem, units } = await context.desc(id)
    const parts = [`${type} ${indomStr(indom)} ${sem} ${unitsStr(units)}`]
    for (let i = 0; i < FETCHES; i++) {
      const { sets } = await context.fetch([id, marker])
      parts.push(printed(sets[0]!, type))
    }
    return parts.join('\t')
  } catch (error) {
    if (error instanceof PcpError && error.code === 'PM_ERR_BADDERIVE')
      return `error\t${error.message.replaceAll('\n', '\\n')}`
    throw error
  } finally {
    await context.close()
  }
}

beforeAll(async () => {
  if (!isPossible) return
  dir = mkdtempSync(join(tmpdir(), 'derived-'))
  base = join(dir, 'dataset')
  await writeDataset(base)
  const program = join(dir, 'calls')
  const source = join(import.meta.dirname, 'lib/derived-calls.c')
  const built = spawnSync('gcc', ['-O1', '-o', program, source, '-lpcp'], { encoding: 'utf8' })
  expect(built.stderr).toBe('')
  const made = [...casesOf(FIXED_SEED, FIXED_CASES), ...casesOf(seed, CASES)]
  const input = `${made.map(({ text }) => text).join('\n')}\n`
  const env = plainEnv({ PCP_DERIVED_CONFIG: '' })
  const { stdout } = spawnSync(program, [base, String(FETCHES)], {
    input,
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
    env,
  })
  const answers = stdout.split('\n').slice(0, -1)
  expect(answers).toHaveLength(made.length)
  for (const [i, one] of made.entries())
    cases.push({ made: one, theirs: answers[i]!, ours: await answer(one.text) })
})

afterAll(() => {
  if (dir !== '') rmSync(dir, { recursive: true })
})

test.runIf(isPossible)('results differ only for known reasons', () => {
  const reasons = new Map<string, number>()
  const found: string[] = []
  let same = 0
  for (const { made, ours, theirs } of cases) {
    if (ours === theirs) {
      same++
      continue
    }
    const why = reasonFor(made.text, ours, theirs)
    if (why === undefined) found.push(`${made.text}\n  ours   ${ours}\n  theirs ${theirs}`)
    else reasons.set(why, (reasons.get(why) ?? 0) + 1)
  }
  const failed = cases.filter(({ theirs }) => theirs.startsWith('error')).length
  console.log(
    `seed ${seed}: ${cases.length} expressions over ${FETCHES} fetches, ${failed} of them refused by the reference; ${same} answers the same; reasons:`,
    Object.fromEntries(reasons),
  )
  expect(found.slice(0, 20).join('\n')).toBe('')
})

test.runIf(isPossible)('every rule of the grammar and every function is covered', () => {
  const counts = new Map<string, number>()
  for (const { made } of cases.slice(0, FIXED_CASES))
    for (const covered of made.covers) counts.set(covered, (counts.get(covered) ?? 0) + 1)
  console.log('covered:', Object.fromEntries([...counts].sort()))
  expect(counts.size).toBe(COVERED)
})

/**
 * Possible defects of an implementation, as changes of an expression or of a result. Each must be found among the fixed cases
 * that match without it.
 */
const DEFECTS: Readonly<Record<string, (text: string) => string>> = {
  'and is or': (text) => text.replaceAll('&&', '||'),
  'equal is less': (text) => text.replaceAll('==', '<'),
  'max is min': (text) => text.replaceAll('max(', 'min('),
  'delta is rate': (text) => text.replaceAll('delta(', 'rate('),
  'a pattern is negated': (text) => text.replaceAll('matchinst(/', 'matchinst(!/'),
  'another instance': (text) => text.replaceAll('[one]', '[two]'),
  'not less is greater': (text) => text.replaceAll('>=', '>'),
  'a mean is a sum': (text) => text.replaceAll('avg(', 'sum('),
  'a discrete constant is instantaneous': (text) =>
    text.replaceAll('semantics=discrete', 'semantics=instant'),
  'a sign is lost': (text) => text.replace(/^-/, ''),
  'a real is single': (text) => text.replaceAll('type=double', 'type=float'),
}

for (const [name, spoil] of Object.entries(DEFECTS)) {
  test.runIf(isPossible)(`finds the defect: ${name}`, async () => {
    const unlike = (text: string, ours: string, theirs: string): boolean =>
      ours !== theirs && reasonFor(text, ours, theirs) === undefined
    let found: string | undefined
    for (const { made, theirs } of cases.slice(0, FIXED_CASES)) {
      const spoilt = spoil(made.text)
      if (spoilt === made.text) continue
      // A description of an expression shows the change itself, so only values and descriptors count.
      const ours = await answer(spoilt)
      if (ours.startsWith('error') || theirs.startsWith('error') || !unlike(made.text, ours, theirs)) continue
      found = `${made.text}\n  as ${spoilt}`
      break
    }
    expect(found).toBeDefined()
  })
}
