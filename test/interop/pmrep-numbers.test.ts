/**
 * Checks pmrep's fast columns of numbers over archives of PCP's own tests: the lines are the same as from value sets, which -j forces here
 * without selecting anything. Needs PCP's archives, but not its programs.
 */
import { expect, test } from 'vitest'
import { PM_TYPE_DOUBLE } from '../../src/model/types.ts'
import { openArchive } from '../../src/pmapi/archive.ts'
import { tool } from '../../src/tools/pmrep/index.ts'
import { testIo } from '../tools/run-tool.ts'
import { archivesOf, hasSuite, suiteFolder } from './lib/suite.ts'

if (!hasSuite) console.log('skipped: the archives of the reference are not installed')

const env = { PCP_DERIVED_CONFIG: '', PCP_SYSCONF_DIR: '/none', HOME: '/none' }
/** Metrics and samples per run. */
const METRICS = 25
const SAMPLES = '150'

const OPTIONS: readonly (readonly string[])[] = [
  ['-u', '-p', '-w', '12'],
  ['-u', '-o', 'csv', '-r'],
  ['-t', '7', '-o', 'csv'],
  ['-t', '61.3', '-p', '-w', '15'],
  ['-t', '0.4', '-r', '-o', 'csv'],
]

/** Returns numeric metrics from all parts of the name space. */
async function metricsOf(path: string): Promise<readonly string[]> {
  const context = await openArchive(path, { env })
  try {
    const names = [...(await context.traverse(''))]
    const descs = await context.descs(await Promise.all(names.map((name) => context.lookupName(name))))
    const numeric = names.filter((_, i) => {
      const found = descs[i]!
      return 'type' in found && found.type <= PM_TYPE_DOUBLE
    })
    const every = Math.max(1, Math.floor(numeric.length / METRICS))
    return numeric.filter((_, i) => i % every === 0)
  } finally {
    await context.close()
  }
}

async function printed(args: readonly string[]): Promise<string> {
  const io = testIo('pmrep', args, env)
  try {
    await tool.run(io)
  } catch (error) {
    io.stderr.write((error as Error).message)
  }
  return io.printed.stdout + io.printed.stderr
}

test.skipIf(!hasSuite)('columns and value sets give the same lines', { timeout: 600_000 }, async () => {
  let runs = 0
  let lines = 0
  const differing: string[] = []
  for (const folder of ['archives', 'badarchives'] as const) {
    for (const name of archivesOf(folder, 6, 1)) {
      const path = `${suiteFolder(folder)}/${name}`
      const metrics = await metricsOf(path).catch(() => [])
      if (metrics.length === 0) continue
      for (const options of OPTIONS) {
        const args = ['-z', '-a', path, '-s', SAMPLES, ...options]
        const short = await printed([...args, ...metrics])
        runs++
        lines += short.split('\n').length
        if (short !== (await printed([...args, '-j', ...metrics])))
          differing.push(`${name} ${options.join(' ')}`)
      }
    }
  }
  console.log(
    `pmrep's columns beside its value sets: ${runs} runs, ${lines} lines, ${differing.length} differ`,
  )
  expect(differing).toEqual([])
})
