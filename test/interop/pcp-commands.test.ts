/**
 * Compares pcp's commands with the reference over archives of PCP's own tests, each with many sets of options: a third of the pairs per day
 * (CONTRIBUTING.md: Random tests), all of them over the archives in the environment variable ARCHIVES. Values are interpolated like in
 * 6.0.3: docs/explanation/differences.md.
 */
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { expect, test } from 'vitest'
import { isSampled } from '../lib/seed.ts'
import { COMMANDS, type CommandCases } from './lib/pcp-commands.ts'
import { runPcpHere } from './lib/pcp-here.ts'
import { run } from './lib/programs.ts'
import { hasSuite, suiteFolder } from './lib/suite.ts'

const REFERENCE = '/usr/bin/pcp'
const canCompare = hasSuite && existsSync('/usr/lib/pcp/bin/pcp-mpstat')
if (!canCompare) console.log('skipped: the archives of the reference or its pcp commands are not installed')

const env = { TZ: 'UTC', PCP_DERIVED_CONFIG: '', HOME: '/nonexistent' }

for (const [command, cases] of Object.entries(COMMANDS))
  test.skipIf(!canCompare)(
    `pcp ${command} prints the same as the reference`,
    { timeout: 900_000 },
    async () => {
      const differences: string[] = []
      let runs = 0
      let lines = 0
      const named = process.env['ARCHIVES']?.split(',')
      for (const [a, name] of (named ?? cases.archives).entries())
        for (const [o, options] of cases.options.entries()) {
          if (named === undefined && !isSampled(a + o, 12)) continue
          const [before = [], after = []] = options
            .split(/(?:^| )\|(?: |$)/)
            .map((part) => part.split(' ').filter(Boolean))
          const args = ['-z', '-a', resolve(suiteFolder('archives'), name), ...before, command, ...after]
          const theirs = await run(REFERENCE, args, { env, timeoutMs: 120_000 })
          // Skips tracebacks of the reference; our output for these cases is covered by unit tests.
          if (theirs.stderr.includes('Traceback')) continue
          runs++
          const expected = shownLines(theirs.stdout, cases)
          const printed = shownLines((await runPcpHere(args, env)).stdout, cases)
          lines += expected.length
          const at = expected.findIndex((line, i) => line !== printed[i])
          if (at >= 0 || printed.length > expected.length)
            differences.push(
              `pcp ${args.slice(1).join(' ')}: line ${at + 1} is ${JSON.stringify(printed.at(at))}, not ${JSON.stringify(expected.at(at))}`,
            )
        }
      console.log(
        `pcp ${command} beside the reference: ${runs} runs, ${lines} lines, ${differences.length} differences`,
      )
      if (differences.length > 0) console.log(differences.slice(0, 5).join('\n'))
      expect(differences).toEqual([])
    },
  )

/** Removes intended differences, and errors, which the reference may print here. */
function shownLines(text: string, { adapt = (line) => line, isUnordered }: CommandCases): readonly string[] {
  const lines = text.split('\n').filter((line) => !line.startsWith('pcp-'))
  const adapted = lines.map(adapt)
  return isUnordered === true ? adapted.sort() : adapted
}
