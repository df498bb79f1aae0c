/** The API reference: made from the sources, with every export in it, each with something to say. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import * as pmapi from '../../src/pmapi/index.ts'

// Compiles all there is: minutes on a busy machine.
test('every export is in it and says what it is', { timeout: 600_000 }, async () => {
  const script = new URL('../../scripts/gen-api.mjs', import.meta.url).href
  const { generateApi } = (await import(script)) as { generateApi: () => readonly string[] }
  expect(generateApi()).toEqual([])
  const page = readFileSync(join('dist', 'api', 'pmapi.md'), 'utf8')
  const headings = new Set(Array.from(page.matchAll(/^## (\w+)$/gm), ([, name]) => name))
  expect(Object.keys(pmapi).filter((name) => !headings.has(name))).toEqual([])
  expect(page).toContain('async') // of an example, as code
  expect(page).not.toMatch(/#private|^ \* /m)
})
