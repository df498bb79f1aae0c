/**
 * Random command lines (`npm run lines`): those that once differed from the reference, shortened, and the generator. Differences found by a
 * search are added to lib/lines/once-different.ts with their fix.
 */
import { afterAll, describe, expect, test } from 'vitest'
import { type Both, type Done, killAll, referencePath, runBoth } from './lib/lines/both-sides.ts'
import { differenceOf } from './lib/lines/difference.ts'
import { LineGenerator, tablesOf } from './lib/lines/generate.ts'
import { knownDifference } from './lib/lines/known-differences.ts'
import { type Line, lineText, nameOf, parseLine, wordsOf } from './lib/lines/line.ts'
import { ONCE_DIFFERENT } from './lib/lines/once-different.ts'
import { search } from './lib/lines/search.ts'
import { hasReference } from './lib/programs.ts'
import { Random } from './lib/random.ts'
import { hasSuite } from './lib/suite.ts'

const canCompare = hasSuite && hasReference
if (!canCompare) console.log('skipped: the archives of the reference or PCP are not installed')

afterAll(killAll)

describe.skipIf(!canCompare)('lines that once differed', () => {
  test.each(ONCE_DIFFERENT)('%s', async (text) => {
    const [command = ''] = text.split(' ', 1)
    if (referencePath(command) === undefined) return
    const line = parseLine(text, await tablesOf(text.split(/\s+/)))
    const both = await runBoth(line)
    const difference = differenceOf(both)
    if (difference === undefined || knownDifference(nameOf(line), line, both, difference) !== undefined)
      return
    expect(both.ours).toEqual(both.theirs)
  })
})

describe.skipIf(!canCompare)('random lines', () => {
  test('a seed generates the same lines again, and a line can be parsed from its text', async () => {
    const [one, other] = await Promise.all([LineGenerator.create(), LineGenerator.create()])
    const commands = new Set<string>()
    for (let i = 0; i < 60; i++) {
      const line = one.line(new Random(i))
      expect(lineText(other.line(new Random(i)))).toBe(lineText(line))
      const tables = await tablesOf([line.command, ...wordsOf(line)])
      expect(wordsOf(parseLine(lineText(line), tables))).toEqual(wordsOf(line))
      commands.add(nameOf(line))
    }
    expect(commands.size).toBeGreaterThan(12)
  })

  test('a difference is shortened to the words that cause it, and counted with others of its cause', async () => {
    const done: Done = { status: '0', stdout: 'a 1\n', stderr: '', files: '' }
    const run = async (line: Line): Promise<Both> => ({
      ours: { ...done, stdout: wordsOf(line).includes('-r') ? 'b 2\n' : 'a 1\n' },
      theirs: done,
    })
    const lines: Line[] = ['-r', '-z', '-r'].map((flag) => ({
      command: 'pmval',
      parts: [
        { words: ['-a', 'x'], isKept: true },
        { words: ['-s', '1'] },
        { words: [flag] },
        { words: ['m'] },
      ],
    }))
    const found = await search(
      { line: () => lines.shift()! },
      { seed: 1, count: 3, jobs: 1, signal: new AbortController().signal, run },
    )
    const [cause, ...rest] = found.causes.values()
    expect(rest).toEqual([])
    expect(cause).toMatchObject({ count: 2, difference: { ours: 'b 2', theirs: 'a 1' } })
    expect(lineText(cause!.line)).toBe('pmval -a x -r')
    expect(found).toMatchObject({ lines: 3, undecided: 0 })
  })
})
