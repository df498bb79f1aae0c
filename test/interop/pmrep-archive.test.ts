/** Compares archives written by pmrep -o archive over archives of PCP's own tests with the reference's, as shown by its pmdumplog. */
import { existsSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { PM_IN_NULL, PM_INDOM_NULL } from '../../src/model/ids.ts'
import { PM_SEM_COUNTER, PM_TYPE_DOUBLE } from '../../src/model/types.ts'
import { unitsStr } from '../../src/model/units.ts'
import { openArchive } from '../../src/pmapi/archive.ts'
import { tool } from '../../src/tools/pmrep/index.ts'
import { seed } from '../lib/seed.ts'
import { testIo } from '../tools/run-tool.ts'
import { run } from './lib/programs.ts'
import { Random } from './lib/random.ts'
import { archivesOf, hasSuite, suiteFolder } from './lib/suite.ts'

const REFERENCE = '/usr/bin/pmrep'
const canCompare = hasSuite && existsSync(REFERENCE)
if (!canCompare) console.log(`skipped: the archives of the reference or ${REFERENCE} are not installed`)

const SHARE = 12
const MOST_BYTES = 1_000_000
const env = { PCP_DERIVED_CONFIG: '', HOME: '/none', TZ: 'UTC' }
const OPTIONS: readonly (readonly string[])[] = [[], ['-t', '10m'], ['-s', '7'], ['-t', '5s', '-s', '20']]

/**
 * The reference truncates long integers, mixes up names of short-lived instances, writes no value of a metric without instances whose archive
 * numbers it 0, as early recorders did, and writes counters without units as rates, whose fractions it cuts off.
 */
const LEFT_OUT = /^(sample\.wrap\.|(hot)?proc\.)/
const LEFT_OUT_ARCHIVES = /^(dyninsts|mirage)/

/** Returns some numeric metrics of an archive. */
async function someMetrics(path: string, random: Random): Promise<readonly string[]> {
  const context = await openArchive(path, { env })
  try {
    const names = await context.traverse('')
    const descs = await context.descs(await Promise.all(names.map((name) => context.lookupName(name))))
    const numbered = new Set<number>()
    for (const { sets } of context.archive.records({}))
      for (const { pmid, inst } of sets) if (inst[0] !== PM_IN_NULL) numbered.add(pmid)
    const numeric = names.filter((name, i) => {
      const desc = descs[i]!
      if (!('type' in desc) || desc.type > PM_TYPE_DOUBLE || LEFT_OUT.test(name)) return false
      if (desc.sem === PM_SEM_COUNTER && unitsStr(desc.units) === '') return false
      return desc.indom !== PM_INDOM_NULL || !numbered.has(desc.pmid)
    })
    return random.shuffled(numeric).slice(0, 4)
  } finally {
    await context.close()
  }
}

async function dump(base: string): Promise<string> {
  const { stdout } = await run('/usr/bin/pmdumplog', ['-z', '-d', '-m', base], { env })
  return stdout.replaceAll(base, 'ARCHIVE')
}

test.runIf(canCompare)('the same records are written', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'pmrep-archive-'))
  const random = new Random(seed)
  const different: string[] = []
  let runs = 0
  try {
    for (const name of archivesOf('archives', SHARE, 3)) {
      if (LEFT_OUT_ARCHIVES.test(name)) continue
      const input = join(suiteFolder('archives'), name)
      if (!existsSync(`${input}.0`) || statSync(`${input}.0`).size > MOST_BYTES) continue
      const metrics = await someMetrics(input, random).catch(() => [])
      if (metrics.length === 0) continue
      const args = ['-a', input, ...random.pick(OPTIONS), '-o', 'archive', '-F']
      const at = mkdtempSync(join(dir, 'case-'))
      const [ours, theirs] = [join(at, 'ours'), join(at, 'theirs')]
      const reference = await run(REFERENCE, [...args, theirs, ...metrics], { env })
      if (reference.status !== 0) continue
      await tool.run(testIo('pmrep', [...args, ours, ...metrics], env))
      runs++
      const [a, b] = [await dump(ours), await dump(theirs)]
      const place = b.split('\n').findIndex((line, i) => line !== a.split('\n')[i])
      if (a !== b)
        different.push(
          `${[...args, ...metrics].join(' ')}:\n${a.split('\n')[place]}\n${b.split('\n')[place]}`,
        )
    }
  } finally {
    rmSync(dir, { recursive: true })
  }
  console.log(`pmrep -o archive: ${runs} runs, seed ${seed}`)
  expect(different).toEqual([])
  expect(runs).toBeGreaterThan(0)
})
