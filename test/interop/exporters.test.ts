/**
 * Compares pcp2json, pcp2xml and pcp2csv over ten archives of PCP's own tests with the reference: a third of the pairs of archive and
 * options per day (CONTRIBUTING.md: Random tests). Values are interpolated like in 6.0.3: docs/explanation/differences.md.
 */
import { existsSync } from 'node:fs'
import { expect, test } from 'vitest'
import { openArchive } from '../../src/pmapi/archive.ts'
import type { Tool } from '../../src/tools/lib/tool.ts'
import { tool as pcp2json } from '../../src/tools/pcp2json/index.ts'
import { tool as pcp2xml } from '../../src/tools/pcp2xml/index.ts'
import { tool as pmrep } from '../../src/tools/pmrep/index.ts'
import { isSampled } from '../lib/seed.ts'
import { testIo } from '../tools/run-tool.ts'
import { run } from './lib/programs.ts'
import { REPORT_ARCHIVES } from './lib/report-archives.ts'
import { hasSuite, suiteFolder } from './lib/suite.ts'

const TOOLS: readonly (readonly [name: string, tool: Tool, options: readonly string[]])[] = [
  [
    'pcp2json',
    pcp2json,
    [
      '-z -s 4',
      '-z -s 3 -x -X -4',
      '-z -s 3 -f %s -P 1',
      '-z -r -s 3 -J 2',
      '-z -s 4 -i .*a.* -b MB -y sec',
      '-Z EST5EDT -s 5 -r',
    ],
  ],
  ['pcp2xml', pcp2xml, ['-z -s 4', '-z -s 3 -x -X -4', '-z -s 3 -f %s -P 1', '-z -r -s 3 -J 2']],
  ['pcp2csv', pmrep, ['-z -s 4', '-z -x -s 3', '-z -u -t 2 -s 5']],
]

/** Our instances are in the order of the archive. The reference's are by rank (-J), or in order of appearance (XML). */
const isOrdered = (name: string, options: string): boolean => name !== 'pcp2xml' && !options.includes('-J')

const ENV = { TZ: 'UTC', PCP_DERIVED_CONFIG: '', HOME: '/nonexistent' }

for (const [name, tool, sets] of TOOLS) {
  const reference = `/usr/bin/${name}`
  const canCompare = hasSuite && existsSync(reference)
  if (!canCompare) console.log(`skipped: the archives of the reference or ${reference} are not installed`)
  test.skipIf(!canCompare)(`${name} writes the same as the reference`, { timeout: 600_000 }, async () => {
    let runs = 0
    let lines = 0
    for (const [a, [archive, metrics]] of REPORT_ARCHIVES.entries())
      for (const [o, options] of sets.entries()) {
        if (!isSampled(a + o, 6)) continue
        const args = ['-a', `${suiteFolder('archives')}/${archive}`, ...options.split(' '), ...metrics]
        const theirs = await run(reference, args, { env: ENV })
        const io = { ...testIo(name, args, ENV), now: Date.now }
        const status = await tool.run({
          ...io,
          openArchive: (names, how) => openArchive(names, { ...how, nearest: false }),
        })
        const shown = (text: string): string =>
          isOrdered(name, options) ? text : text.replaceAll(',\n', '\n').split('\n').sort().join('\n')
        expect(shown(io.printed.stdout), `${name} ${args.join(' ')}`).toBe(shown(theirs.stdout))
        expect(status).toBe(theirs.status)
        runs++
        lines += theirs.stdout.split('\n').length - 1
      }
    console.log(`${name} beside the reference: ${runs} runs, ${lines} lines`)
  })
}
