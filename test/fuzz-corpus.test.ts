/** Runs every fuzz entry over its seeds, its stored corpus and inputs that once failed. CONTRIBUTING.md: Fuzzing */
import { existsSync, readdirSync } from 'node:fs'
import { expect, test } from 'vitest'
import { failureOf } from './fuzz/engine/attempt.ts'
import { fromLine, readCorpus, readFinds, toLine } from './fuzz/engine/corpus.ts'
import { joinParts, splitParts } from './fuzz/engine/entry.ts'
import { ENTRIES } from './fuzz/entries.ts'

test.each(Object.keys(ENTRIES))('%s: no input fails', async (name) => {
  const entry = await ENTRIES[name]!()
  const finds = readFinds(name)
  const inputs = [...entry.seeds(), ...readCorpus(name), ...finds.values()]
  expect(inputs.length).toBeGreaterThan(0)
  try {
    for (const input of inputs) {
      const error = await failureOf(entry, input)
      if (error !== undefined) throw new Error(`input ${toLine(input)}`, { cause: error })
    }
  } finally {
    await entry.close?.()
  }
})

test('every corpus and every finding has an entry', () => {
  const directories = ['test/fuzz/corpus', 'test/fuzz/finds'].filter((path) => existsSync(path))
  const files = directories.flatMap((directory) => readdirSync(directory))
  const names = files.map((file) => file.split('.')[0]!)
  expect(names.filter((name) => ENTRIES[name] === undefined)).toEqual([])
})

test('inputs are stored as printable lines, and read back unchanged', () => {
  const all = Uint8Array.from({ length: 256 }, (_, i) => i)
  const texts = ['', 'plain', 'a\\b\nc\td\\x41', 'base64:YQ==', 'é', '\0'].map((text) =>
    new TextEncoder().encode(text),
  )
  for (const input of [all, ...texts]) {
    expect(toLine(input)).toMatch(/^[ -~]*$/)
    expect(fromLine(toLine(input))).toEqual(input)
  }
})

test('parts are split as they were joined, and lengths beyond the end are truncated', () => {
  const parts = [[1, 2], [], [3]].map((bytes) => Uint8Array.from(bytes))
  expect(splitParts(joinParts(parts), 3)).toEqual(parts)
  expect(splitParts(Uint8Array.of(0, 0, 1, 0, 7), 3).map(({ length }) => length)).toEqual([1, 0, 0])
  expect(splitParts(new Uint8Array(0), 2).map(({ length }) => length)).toEqual([0, 0])
})
