/** Growth and rates of counters are computed only in src/model/rate.ts. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const src = fileURLToPath(new URL('../../src', import.meta.url))

/** Allowed exceptions, with reasons. */
const EXCEPTIONS: Readonly<Record<string, string>> = {
  'model/rate.ts': 'the only place',
  'rules/operators.ts': 'rate of any number, which may fall',
  'tools/pmlogsummary/metric-summary.ts': 'doubles, as in the reference: their rounding shows',
}

/** Names of earlier values. */
const EARLIER =
  '(?:[\\w.#]*\\b)?#?(?:before|earlier|begin|last|lastValue|old|prev|previous|prior|was)(?:\\[[^\\]]*\\])?!?'
const NOW = '[\\w.#]+(?:\\[[^\\]]*\\])?!?'

const IDIOMS: readonly RegExp[] = [
  // now < before ? undefined : now - before
  new RegExp(
    `(?<now>${NOW}) (?:<|>=) (?<old>${EARLIER})(?![\\w.])[\\s\\S]{0,90}?\\k<now> - \\k<old>(?![\\w.])`,
  ),
  // (now - before) / seconds
  new RegExp(`\\(${NOW} - ${EARLIER}\\) / [\\w.#]*(?:[sS]econds|[eE]lapsed|[sS]ec)`),
]

const isMatch = (code: string): boolean => IDIOMS.some((idiom) => idiom.test(code))

test.each([
  'return now === undefined || now < before ? undefined : now - before',
  'return end >= begin ? end - begin : end',
  'if (earlier === undefined || later < earlier) return undefined\n    return later - earlier',
  'Math.max(0, (used[what] - before[what]) / seconds)',
  'return seconds > 0 ? ((value - before) / seconds) * factor : null',
  'const rate = (value - this.#last) / elapsedSec',
])('another computation of growth is found: %s', (code) => {
  expect(isMatch(code)).toBe(true)
})

test.each([
  'const isDue = now - this.#last > delay',
  'if (at < end) rest = end - at',
  'return counterRate(before, now, seconds)',
])('other subtractions are not: %s', (code) => {
  expect(isMatch(code)).toBe(false)
})

test('no other code computes the growth of counters', () => {
  const files = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter((file) => /\.tsx?$/.test(file))
  const found = files.filter((file) =>
    isMatch(readFileSync(join(src, file), 'utf8').replace(/\/\*[\s\S]*?\*\/|\/\/.*/g, '')),
  )
  expect(found.filter((file) => EXCEPTIONS[file] === undefined)).toEqual([])
})
