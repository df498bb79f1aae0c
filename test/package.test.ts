/** package.json agrees with the tables in the sources. */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { VERSION } from '../src/base/version.ts'
import { TOOLS } from '../src/tools/registry.ts'

const manifest = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
  version: string
  bin: Record<string, string>
  man: readonly string[]
  dependencies?: Record<string, string>
  optionalDependencies: Record<string, string>
  devDependencies: Record<string, string>
}

test('a global installation puts one command on the PATH, beside those of an installed PCP', () => {
  expect(manifest.bin).toEqual({ 'pcp-ts': 'bin/pcp-ts' })
})

test('man finds the pages of pcp-ts, and none that could hide one of an installed PCP', () => {
  const pages = TOOLS.filter(({ name, subcommandOf }) => name === 'pcp-ts' || subcommandOf !== undefined)
  const names = pages.map(({ name }) => name).sort()
  expect(manifest.man).toEqual(names.map((name) => `dist/man/man1/${name}.1`))
})

test('every subcommand is named after its command', () => {
  for (const { name, subcommandOf } of TOOLS)
    if (subcommandOf !== undefined) expect(name).toMatch(new RegExp(`^${subcommandOf}-[a-z]+$`))
})

test('the sources know the version', () => {
  expect(VERSION).toBe(manifest.version)
})

test('the package has no required dependencies; the optional one and tools are pinned', () => {
  expect(manifest.dependencies).toBeUndefined()
  expect(Object.keys(manifest.optionalDependencies)).toEqual(['koffi'])
  for (const [name, version] of Object.entries({
    ...manifest.optionalDependencies,
    ...manifest.devDependencies,
  }))
    expect(`${name} ${version}`).toMatch(/ \d+\.\d+\.\d+(?:-alpha\.\d+)?$/)
})
