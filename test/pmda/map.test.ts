/** docs/reference/pmda-map.md: covers every function of libpcp_pmda, and everything it names exists and has a test. */
import { existsSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import * as pmda from '../../src/pmda/index.ts'

interface Row {
  readonly section?: string
  readonly c?: readonly string[]
  readonly ts?: string
  readonly file?: string
  readonly name?: string
  readonly test?: string
  readonly why?: string
}

const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')
const has = (path: string | undefined, word: RegExp): boolean =>
  path !== undefined && existsSync(new URL(`../../${path}`, import.meta.url)) && word.test(read(path))
const rows = (JSON.parse(read('docs/reference/pmda-map.json')) as Row[]).filter(
  ({ section }) => section === undefined,
)
const { functions } = JSON.parse(read('test/vectors/pmda/functions.json')) as { functions: string[] }

test('every function has one row, and every row is about functions that exist', () => {
  expect(rows.flatMap(({ c }) => c ?? []).sort()).toEqual([...functions].sort())
})

test('each counterpart exists and has a test that calls it', () => {
  const wrong: string[] = []
  for (const { c, file, name, test: path, why } of rows) {
    if (why !== undefined) continue
    const word = new RegExp(`\\b${name}\\b`)
    if (!has(file, word)) wrong.push(`${c}: ${name} is not in ${file}`)
    if (!has(path, word)) wrong.push(`${c}: ${path} does not test ${name}`)
  }
  expect(wrong).toEqual([])
})

test('functions on the page are exported by pcp-ts/pmda', () => {
  const called = rows.flatMap(({ ts = '' }) =>
    Array.from(ts.matchAll(/`(?:new )?([A-Za-z]+)\(/g), ([, name]) => name!),
  )
  expect(called.length).toBeGreaterThan(5)
  expect(called.filter((name) => !(name in pmda))).toEqual([])
})

test('the page matches the data', async () => {
  const script = new URL('../../scripts/gen-pmda-map.mjs', import.meta.url).href
  const { pmdaPage } = (await import(script)) as { pmdaPage: (rows: unknown) => string }
  expect(read('docs/reference/pmda-map.md')).toBe(pmdaPage(JSON.parse(read('docs/reference/pmda-map.json'))))
})
