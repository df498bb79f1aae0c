/**
 * Rules tried on an archive, as the page does it, fire at the same instants and with the same messages as `pmie -a` of the reference. Values are
 * interpolated like in 6.0.3, because everything else depends on them.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openArchive } from '../../src/pmapi/archive.ts'
import { type FiringsAnswer, firings, type RuleFirings } from '../../src/rules/firings.ts'
import { UTC } from '../../src/time/zone.ts'
import { hasReference, run } from './lib/programs.ts'
import { hasSuite, suiteFolder } from './lib/suite.ts'

const canCompare = hasSuite && hasReference
if (!canCompare) console.log('skipped: the archives of the reference or PCP are not installed')

interface Case {
  readonly archive: string
  readonly deltaSec: number
  /** A counter with instances, a counter, and an instantaneous metric. */
  readonly each: string
  readonly counter: string
  readonly level: string
}

const CASES: readonly Case[] = [
  {
    archive: '20041125.0',
    deltaSec: 60,
    each: 'disk.dev.total',
    counter: 'kernel.all.cpu.user',
    level: 'mem.util.free',
  },
  {
    archive: 'kenj-pc-1',
    deltaSec: 300,
    each: 'disk.dev.total',
    counter: 'kernel.all.cpu.sys',
    level: 'mem.util.used',
  },
  {
    archive: 'naslog',
    deltaSec: 30,
    each: 'network.interface.in.bytes',
    counter: 'kernel.all.cpu.sys',
    level: 'kernel.all.load',
  },
  {
    archive: 'pmiostat_mark',
    deltaSec: 10,
    each: 'disk.dev.read',
    counter: 'disk.dev.read',
    level: 'disk.dev.avactive',
  },
]

/**
 * Returns one rule a line; `HELD` is the one with a minimum time between actions. Factors keep rates of one interval between two records, which
 * differ by rounding only, from being compared.
 */
function rulesFor({ each, counter, level }: Case): readonly string[] {
  return [
    `some_inst (${each} > 0) -> print "some %i:%v ";`,
    `all_inst (${each} > 0) -> print "all " "%i " & shell "second %v";`,
    `50 %_inst (${each} > 1) -> alarm "half";`,
    `some_inst (${each} > avg_inst ${each}) -> print "%i over %h " | syslog "never";`,
    `rising some_inst (${each} > 0.5) -> print "rose";`,
    `falling some_inst (${each} > 0.5) -> print "fell";`,
    `all_sample (max_inst ${each} @0..2 > 0) -> print "three samples";`,
    `count_inst (${each} > 0) > 1 -> syslog "-p" "user.info" "several %v";`,
    `avg_inst (${counter} @0) > 1.1 * avg_inst (${counter} @1) -> print "grows";`,
    `sum_inst (instant ${counter}) > 1000 -> print "total %v";`,
    `avg_inst ${level} > 1.001 * avg_inst (${level} @1) && ! (avg_inst ${level} < 0) -> print "more " "%v";`,
    `ruleset some_inst (${each} > 5) -> print "high %v" else some_inst (${each} > 0.1) -> print "low %v" unknown -> print "unknown" otherwise -> print "idle";`,
    `some_inst match_inst "^[a-m]" (${each} >= 0) -> print 17 min "held %i ";`,
    `$minute >= 30 && avg_inst ${level} > 0 -> print "second half";`,
  ]
}

/** Line with a minimum time between actions. */
const HELD = 13

/** Firings: seconds since the epoch, and the first message at each. */
type Fired = ReadonlyMap<number, string>

/** Parses lines `ACTION DATE: MESSAGE`; of several actions at one time the first counts. */
function firedOf(stdout: string): Fired {
  const found = new Map<number, string>()
  for (const text of stdout.split('\n')) {
    const [, date, message] = /^\w+ (\w+ \w+ +\d+ [\d:]+ \d+): (.*)$/.exec(text) ?? []
    if (message === undefined) continue
    const at = Date.parse(`${date} UTC`) / 1000
    if (!found.has(at)) found.set(at, message)
  }
  return found
}

/** Returns the differences between a rule's spans and the firings of the reference. */
function differences(rule: RuleFirings, theirs: Fired): string[] {
  const found: string[] = []
  if (rule.count !== theirs.size) found.push(`${rule.count} instead of ${theirs.size} firings`)
  const own: number[] = []
  for (const { from, to, message } of rule.spans) {
    if (theirs.get(Math.floor(from)) !== message)
      found.push(`at ${from} "${message}" instead of "${theirs.get(Math.floor(from))}"`)
    for (let at = from; at <= to + 1e-3; at += rule.deltaSec) own.push(Math.floor(at + 1e-6))
  }
  const isSame = own.length === theirs.size && own.every((at) => theirs.has(at))
  if (rule.line !== HELD && !isSame) found.push(`other instants: ${own.length} instead of ${theirs.size}`)
  if (rule.line === HELD && ![...theirs.keys()].every((at) => own.includes(at)))
    found.push('firings outside of spans')
  return found
}

async function tried(path: string, text: string, deltaSec: number): Promise<FiringsAnswer> {
  const context = await openArchive(path, { env: {}, nearest: false })
  try {
    const turn = { shouldYield: () => false, yield: async () => {} }
    return await firings(context, { text, deltaSec }, { name: path, zone: UTC, turn })
  } finally {
    await context.close()
  }
}

test.skipIf(!canCompare).each(CASES)('fires as the reference does over $archive', async (one) => {
  const folder = mkdtempSync(join(tmpdir(), 'rules-'))
  try {
    const path = join(suiteFolder('archives'), one.archive)
    const file = join(folder, 'rules')
    const text = `${rulesFor(one).join('\n')}\n`
    const { rules, problems } = await tried(path, text, one.deltaSec)
    expect(problems).toEqual([])
    // One rule a run, because the reference's actions do not name their rule.
    const theirs = new Map<number, Fired>()
    for (const [i, rule] of rulesFor(one).entries()) {
      writeFileSync(file, `${rule}\n`)
      const args = ['-q', '-Z', 'UTC', '-t', `${one.deltaSec}sec`, '-a', path, file]
      theirs.set(i + 1, firedOf((await run('pmie', args)).stdout))
    }
    expect(rules.map(({ line }) => line)).toEqual(rulesFor(one).map((_, i) => i + 1))
    const wrong = rules.flatMap((rule) =>
      differences(rule, theirs.get(rule.line) ?? new Map()).map((what) => `line ${rule.line}: ${what}`),
    )
    expect(wrong).toEqual([])
    console.log(
      `${one.archive}: firings ${rules.map(({ count, spanCount }) => `${count}/${spanCount}`).join(' ')}`,
    )
    expect(rules.filter(({ count }) => count > 0).length).toBeGreaterThan(rules.length / 2)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})
