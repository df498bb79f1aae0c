/**
 * pcp's commands over archives of PCP's own tests, each with many sets of options, beside the reference's: a third of the pairs a day
 * (CONTRIBUTING.md: Random tests), all of them over the archives that ARCHIVES in the environment names. Values between records are taken as
 * 6.0.3 takes them: docs/differences.md.
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
    `pcp ${command} prints what the reference prints`,
    { timeout: 900_000 },
    async () => {
      const differences: string[] = []
      let runs = 0
      let lines = 0
      const named = process.env['ARCHIVES']?.split(',')
      for (const [a, name] of (named ?? cases.archives).entries())
        for (const [o, options] of cases.options.entries()) {
          if (named === undefined && !isSampled(a + o, 3)) continue
          const [before = [], after = []] = options
            .split(/(?:^| )\|(?: |$)/)
            .map((part) => part.split(' ').filter(Boolean))
          const args = ['-z', '-a', resolve(suiteFolder('archives'), name), ...before, command, ...after]
          const theirs = await run(REFERENCE, args, { env, timeoutMs: 120_000 })
          // Tracebacks are no report: what ours prints then is for its own tests.
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

/** Without figures that differ on purpose, and without mistakes, which the reference may tell here. */
function shownLines(text: string, { adapt = (line) => line, isUnordered }: CommandCases): readonly string[] {
  const lines = text.split('\n').filter((line) => !line.startsWith('pcp-'))
  const adapted = lines.map(adapt)
  return isUnordered === true ? adapted.sort() : adapted
}
