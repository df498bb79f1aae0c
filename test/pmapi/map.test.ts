/** docs/reference/pmapi-map.md covers every function of the PMAPI, and its names and tests exist. */
import { existsSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import * as pmapi from '../../src/pmapi/index.ts'

interface Row {
  readonly section?: string
  readonly c?: readonly string[]
  readonly ts?: string
  readonly file?: string
  readonly name?: string
  readonly test?: string | null
  readonly why?: string
}

const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')
const exists = (path: string): boolean => existsSync(new URL(`../../${path}`, import.meta.url))
const rows = (JSON.parse(read('docs/reference/pmapi-map.json')) as Row[]).filter(
  ({ section }) => section === undefined,
)
const { functions } = JSON.parse(read('test/vectors/pmapi/functions.json')) as { functions: string[] }

test('every function has one row, and every row names existing functions', () => {
  const listed = rows.flatMap(({ c }) => c ?? [])
  expect([...listed].sort()).toEqual([...functions].sort())
})

test('every replacement exists and has a test that calls it', () => {
  const wrong: string[] = []
  for (const { c, file, name, test: path, why } of rows) {
    if (why !== undefined) continue
    const word = new RegExp(`\\b${name}\\b`)
    if (file === undefined || !exists(file) || !word.test(read(file)))
      wrong.push(`${c}: ${name} is not in ${file}`)
    if (typeof path !== 'string' || !exists(path) || !word.test(read(path)))
      wrong.push(`${c}: ${path} does not test ${name}`)
  }
  expect(wrong).toEqual([])
})

test('replacements that need no other module are exported by pcp-ts/pmapi', () => {
  const members = [
    'context.ts',
    'context-calls.ts',
    'archive-control.ts',
    'fetch-group.ts',
    'tree.ts',
    'archive/label.ts',
  ]
  const missing = rows.filter(
    ({ file, ts, name }) =>
      file !== undefined &&
      !members.some((member) => file.endsWith(member)) &&
      !/ of `(src|pcp-ts)/.test(ts ?? '') &&
      !(name! in pmapi),
  )
  expect(missing.map(({ name }) => name)).toEqual([])
})

test('the page matches the data', async () => {
  const script = new URL('../../scripts/gen-pmapi-map.mjs', import.meta.url).href
  const { mapPage } = (await import(script)) as { mapPage: (rows: unknown) => string }
  expect(read('docs/reference/pmapi-map.md')).toBe(mapPage(JSON.parse(read('docs/reference/pmapi-map.json'))))
})
