/** pmda-new: the folder it writes, and the domain it records. */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { freeDomain, registeredDomain } from '../../../src/tools/pmda-new/domain.ts'
import { tool } from '../../../src/tools/pmda-new/index.ts'
import { testIo } from '../run-tool.ts'

let dir: string
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'pmda-new-'))
  mkdirSync(join(dir, 'pmns'))
  writeFileSync(join(dir, 'pmns', 'stdpmid.pcp'), 'PMCD\t2\nLINUX 60 # kernel\n')
  writeFileSync(
    join(dir, 'pmcd.conf'),
    'pmcd 2 dso pmcd_init /x.so\n# old 509 dso\nunregistered 509 pipe binary /x\n',
  )
})
afterEach(() => rmSync(dir, { recursive: true }))

async function run(...args: string[]) {
  const env = { PCP_VAR_DIR: dir, PCP_PMCDCONF_PATH: join(dir, 'pmcd.conf') }
  const io = { ...testIo('pmda-new', args, env), cwd: dir }
  const status = await tool.run(io)
  return { status, ...io.printed }
}

test('records the highest free domain for the agent', async () => {
  expect((await run('queue')).stdout).toContain('domain 510')
  expect((await run('next_one')).stdout).toContain('domain 508')
  expect(readFileSync(join(dir, 'pmns/stdpmid.local'), 'utf8')).toBe('QUEUE\t510\nNEXT_ONE\t508\n')
  expect(readFileSync(join(dir, 'pmns/stdpmid'), 'utf8')).toMatch(/#define NEXT_ONE\s+508/)
  expect((await run('-o', 'again', 'queue')).stdout).toContain('domain 510')
  expect(
    readdirSync(join(dir, 'queue'))
      .filter((name) => name !== 'node_modules')
      .sort(),
  ).toEqual(['README.md', 'agent.mjs', 'agent.test.mjs', 'package.json', 'pmdaqueue.mjs', 'pmlogconf'])
  expect(readFileSync(join(dir, 'queue/agent.mjs'), 'utf8')).toContain("name: 'queue', domain: 510")
})

test('a chosen domain is not recorded; what exists is not overwritten', async () => {
  expect((await run('-d', '400', 'mine')).status).toBe(0)
  expect(existsSync(join(dir, 'pmns/stdpmid.local'))).toBe(false)
  await expect(run('-d', '400', 'mine')).rejects.toMatchObject({ code: 'EEXIST' })
})

test('makes the name space directory, and writes no agent if that fails', async () => {
  rmSync(join(dir, 'pmns'), { recursive: true })
  writeFileSync(join(dir, 'pmns'), '')
  await expect(run('other')).rejects.toThrow('choose a domain with -d')
  expect(existsSync(join(dir, 'other'))).toBe(false)
  rmSync(join(dir, 'pmns'))
  expect((await run('other')).stdout).toContain('domain 510')
  expect(readFileSync(join(dir, 'pmns/stdpmid.local'), 'utf8')).toBe('OTHER\t510\n')
})

test('refuses invalid names and domains', async () => {
  for (const args of [[], ['a', 'b'], ['Queue'], ['1a'], ['a-b'], ['-d', '511', 'a'], ['-d', 'x', 'a']])
    expect((await run(...args)).status, args.join(' ')).toBe(1)
})

test('reports that all domains are taken', () => {
  const rows = Array.from({ length: 126 }, (_, i) => `A${i} ${385 + i}`)
  const domains = { registers: [{ file: 'f', text: rows.join('\n') }], conf: '' }
  expect(() => freeDomain(domains)).toThrow('Every domain from 385 to 510 is in use')
  expect(registeredDomain('A3', domains)).toBe(388)
})
