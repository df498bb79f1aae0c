/** Mutated fixture trees: for any content of the files the linux agent answers with values, no values or errors, never NaN. */
import { cpSync, lstatSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { agent } from '../../src/agents/linux/index.ts'
import { openAgent } from '../../src/pmda/open-agent.ts'
import { generator } from '../lib/generator.ts'
import { type Answer, allAnswers } from '../lib/linux-agent.ts'
import { seed } from '../lib/seed.ts'

const LIMIT_MS = Number(process.env['FUZZ_MS'] ?? 10_000)
const FIXTURES = fileURLToPath(new URL('../fixtures/linux', import.meta.url))

type Mutation = (text: string, pick: (below: number) => number) => string

/** Texts are Latin-1: each character is a byte. */
const MUTATIONS: readonly Mutation[] = [
  (text) => text,
  () => '',
  (text, pick) => text.slice(0, pick(text.length + 1)),
  (text, pick) => numbers(text, pick, '99999999999999999999999999'),
  (text, pick) => numbers(text, pick, '18446744073709551615'),
  (text, pick) => numbers(text, pick, '-1'),
  (text, pick) => numbers(text, pick, 'x'),
  (text, pick) => text.replace(/[a-z]/g, (letter) => (pick(10) === 0 ? '\xe4\xff' : letter)),
  (text, pick) => text.replace(/\S+/g, (word) => (pick(10) === 0 ? '' : word)),
  (text, pick) =>
    text
      .split('\n')
      .filter(() => pick(2) === 0)
      .join('\n'),
  (text) => text + text,
  (_text, pick) => String.fromCharCode(...Array.from({ length: 400 }, () => pick(256))),
]

function numbers(text: string, pick: (below: number) => number, other: string): string {
  return text.replace(/\b\d+\b/g, (number) => (pick(3) === 0 ? other : number))
}

function filesBelow(directory: string): string[] {
  return readdirSync(directory).flatMap((name) => {
    const path = join(directory, name)
    const stat = lstatSync(path)
    return stat.isDirectory() ? filesBelow(path) : stat.isFile() ? [path] : []
  })
}

function badNumbers(answers: Record<string, Answer>): string[] {
  return Object.entries(answers).flatMap(([name, answer]) => {
    const values = answer !== null && typeof answer === 'object' ? Object.values(answer) : [answer]
    const isBad = (value: unknown): boolean =>
      typeof value === 'number' ? !Number.isFinite(value) : /\b(NaN|undefined)\b/.test(String(value))
    return values.filter(isBad).map((value) => `${name}: ${String(value)}`)
  })
}

test('odd files yield no odd values', async () => {
  const end = performance.now() + LIMIT_MS
  let runs = 0
  for (let round = seed * 1e6; performance.now() < end; round++) {
    for (const fixture of readdirSync(FIXTURES)) {
      const pick = generator(round)
      const root = mkdtempSync(join(tmpdir(), 'linux-fuzz-'))
      cpSync(join(FIXTURES, fixture), root, { recursive: true, verbatimSymlinks: true })
      const log: string[] = []
      const env = { LINUX_ACCESS: '1', LINUX_MDADM: '/bin/true' }
      const source = openAgent(agent, { root, env, log: (_level, text) => log.push(text) })
      const names = [...source.names()].map(([name]) => name)
      await allAnswers(source, names)
      for (const file of filesBelow(root)) {
        const mutate = MUTATIONS[pick(MUTATIONS.length)]!
        writeFileSync(file, mutate(readFileSync(file, 'latin1'), pick), 'latin1')
      }
      const answers = await allAnswers(source, names)
      await source.close()
      rmSync(root, { recursive: true })
      const where = `fixture ${fixture}, seed ${round}`
      expect(badNumbers(answers), where).toEqual([])
      // A line with a stack trace is an unexpected exception, or NaN in an integer.
      const defects = log.filter((line) => /\n\s+at |is not an integer/.test(line))
      expect(defects, where).toEqual([])
      runs++
    }
  }
  console.log(`linux agent: ${runs} mutated trees`)
})
