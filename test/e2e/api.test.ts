/** The API reference generated from the sources contains and describes every export. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import * as pmapi from '../../src/pmapi/index.ts'

// Compiles everything, which takes minutes on a busy machine.
test('every export is listed with a description', { timeout: 600_000 }, async () => {
  const script = new URL('../../scripts/gen-api.mjs', import.meta.url).href
  const { generateApi } = (await import(script)) as { generateApi: () => readonly string[] }
  expect(generateApi()).toEqual([])
  const page = readFileSync(join('dist', 'api', 'pmapi.md'), 'utf8')
  const headings = new Set(
    Array.from(
      page.matchAll(/^### (\w+)$|^\| <a id=.*?<\/a>`(\w+)`/gm),
      ([, name, constant]) => name ?? constant,
    ),
  )
  expect(Object.keys(pmapi).filter((name) => !headings.has(name))).toEqual([])
  expect(page).toContain('async') // of an example, as code
  expect(page).not.toMatch(/#private|^ \* /m)
})
