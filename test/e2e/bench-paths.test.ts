/** Benchmarks run by hand only: the built files that they start must exist. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const BUILT =
  /join\((?:top|this\.#top|process\.cwd\(\)), ((?:'[\w.-]+'(?:, )?)+)\)|'((?:bin|dist)\/[\w./-]+)'/g

test('benchmarks name built files that exist', () => {
  const named = readdirSync('bench', { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .flatMap((file) =>
      Array.from(readFileSync(join('bench', file), 'utf8').matchAll(BUILT), ([, parts, path]) =>
        path === undefined
          ? parts!
              .replaceAll(/'(?:, )?'?/g, '/')
              .replaceAll('//', '/')
              .slice(1, -1)
          : path,
      ),
    )
    .filter((path) => /^(?:bin|dist)\//.test(path))
  expect(named.length).toBeGreaterThan(3)
  expect(named.filter((path) => !existsSync(path))).toEqual([])
})
