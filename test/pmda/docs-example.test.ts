/** The worked example of docs/reference/agent-toolkit.md: it is the file beside this one, it compiles, and it works. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { indom, pmid } from '../../src/model/ids.ts'
import { PM_TYPE_STRING, PM_TYPE_U32 } from '../../src/model/types.ts'
import { valuesOf } from '../../src/model/value-set.ts'
import { openAgent } from '../../src/pmda/open-agent.ts'
import { ASK, assertHelp } from '../lib/agent-catalogue.ts'
import { agent as definition, parseBattery } from './battery-agent.ts'

let root: string

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'battery-'))
})
afterEach(() => rmSync(root, { recursive: true }))

function write(path: string, text: string): void {
  const full = join(root, 'sys/class/power_supply', path)
  mkdirSync(join(full, '..'), { recursive: true })
  writeFileSync(full, text)
}

test('the documentation shows the agent that is tested here', () => {
  const docs = readFileSync(new URL('../../docs/reference/agent-toolkit.md', import.meta.url), 'utf8')
  const shown = /```ts\n([\s\S]*?)```/.exec(docs)![1]!
  const tested = readFileSync(new URL('./battery-agent.ts', import.meta.url), 'utf8')
  expect(shown).toBe(tested.replace('../../src/pmda/index.ts', 'pcp-ts/pmda'))
})

test('parsing needs no files', () => {
  expect(parseBattery('BAT0', (file) => (file === 'capacity' ? '87' : undefined))).toEqual({
    name: 'BAT0',
    percent: 87,
    status: undefined,
  })
})

test('values come from the files below the root, and missing files mean missing values', async () => {
  write('BAT0/capacity', '87\n')
  write('BAT0/status', 'Discharging\n')
  write('BAT2/status', 'Full\n')
  write('AC/online', '0\n')
  const agent = openAgent(definition, { root })
  const ids = [...agent.names()].map(([, id]) => id)
  const { sets } = await agent.fetch(ids, ASK)
  expect(sets[0]!.word[0]).toBe(2)
  expect(valuesOf(sets[1]!, PM_TYPE_U32)).toEqual([{ inst: 0, value: 87 }])
  expect(valuesOf(sets[2]!, PM_TYPE_STRING)).toEqual([
    { inst: 0, value: 'Discharging' },
    { inst: 2, value: 'Full' },
  ])
  expect(await agent.instances(indom(480, 0), undefined, ASK)).toMatchObject({ names: ['BAT0', 'BAT2'] })
  await assertHelp(agent)
})

test('without the directory every metric has the error of the operating system', async () => {
  const agent = openAgent(definition, { root })
  const { sets } = await agent.fetch([pmid(480, 0, 0), pmid(480, 0, 1)], ASK)
  expect(sets.map((set) => set.status)).toEqual([-2, -2])
})
