import { expect, test } from 'vitest'
import { AGENTS } from '../../src/agents/registry.ts'

test('each row names the agent that its module defines', async () => {
  for (const { name, domain, load } of AGENTS) {
    const definition = await load()
    expect([definition.name, definition.domain]).toEqual([name, domain])
  }
})

test('names, domains and shared objects are unique', () => {
  const columns: readonly (readonly unknown[])[] = [
    AGENTS.map(({ name }) => name),
    AGENTS.map(({ domain }) => domain),
    AGENTS.map(({ dso }) => `${dso.file} ${dso.entry}`),
  ]
  for (const column of columns) expect(new Set(column).size).toBe(AGENTS.length)
})
