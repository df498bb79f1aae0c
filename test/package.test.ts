/** What package.json says must agree with the tables of the sources. */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { AGENTS } from '../src/agents/registry.ts'
import { VERSION } from '../src/base/version.ts'
import { TOOLS } from '../src/tools/registry.ts'

const manifest = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
  version: string
  bin: Record<string, string>
  dependencies?: Record<string, string>
  optionalDependencies: Record<string, string>
  devDependencies: Record<string, string>
}

test('every tool but those for scripts, and every agent daemon, is a command of the package', () => {
  const tools = TOOLS.filter(({ isForScripts }) => isForScripts !== true)
  const names = [...tools.map(({ name }) => name), ...AGENTS.map(({ name }) => `pmda${name}`)].sort()
  expect(manifest.bin).toEqual(Object.fromEntries(names.map((name) => [name, `bin/${name}`])))
})

test('the sources know the version', () => {
  expect(VERSION).toBe(manifest.version)
})

test('the package needs no other; the optional one and tools are pinned', () => {
  expect(manifest.dependencies).toBeUndefined()
  expect(Object.keys(manifest.optionalDependencies)).toEqual(['koffi'])
  for (const [name, version] of Object.entries({
    ...manifest.optionalDependencies,
    ...manifest.devDependencies,
  }))
    expect(`${name} ${version}`).toMatch(/ \d+\.\d+\.\d+$/)
})
