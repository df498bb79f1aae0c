/** access.conf: which authenticated users may see processes. */
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { parseAccess } from '../../../src/agents/proc/access.ts'
import { indom } from '../../../src/model/ids.ts'
import type { Credentials } from '../../../src/model/source.ts'
import type { AgentSource } from '../../../src/pmda/open-agent.ts'
import { asUser, openProc } from '../../lib/proc-agent.ts'

const CONF = 'etc/pcp/proc/access.conf'
let root: string
let agent: AgentSource
let log: string[]

function write(path: string, text: string): void {
  const file = join(root, path)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
}

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'pcp-ts-access-'))
  write('proc/7/stat', '7 (prog) S 1 7 7 0 -1\n')
  const { uid, gid } = { uid: process.geteuid?.() ?? 0, gid: process.getegid?.() ?? 0 }
  write('etc/passwd', `ann:x:${uid}:${gid}::/:/bin/sh\n`)
  write('etc/group', '')
  log = []
  agent = openProc(root, {}, { log: (_level, text) => log.push(text) })
})
afterEach(async () => {
  await agent.close()
  rmSync(root, { recursive: true })
})

const sees = async (credentials: Credentials): Promise<boolean> =>
  agent.instances(indom(3, 9), undefined, asUser(credentials)).then(
    ({ ids }) => ids.length === 1,
    () => false,
  )

test('grants access to a listed user as soon as the file changes', async () => {
  expect(await sees({ user: 'remote' })).toBe(false)
  write(CONF, '# who may\nallowed: other, remote\n')
  expect([await sees({ user: 'remote' }), await sees({ user: 'ann' }), await sees({})]).toEqual([
    true,
    false,
    false,
  ])
  rmSync(join(root, CONF))
  expect(await sees({ user: 'remote' })).toBe(false)
})

test('takes users for the accounts of the same name', async () => {
  write(CONF, 'mapped: true\n')
  expect([await sees({ user: 'ann' }), await sees({ user: 'remote' })]).toEqual([true, false])
  write(CONF, 'mapped: false\n\n')
  expect(await sees({ user: 'ann' })).toBe(false)
})

test('counts for nothing when everybody can write it, or it is wrong', async () => {
  write(CONF, 'allowed: remote\n')
  chmodSync(join(root, CONF), 0o666)
  expect(await sees({ user: 'remote' })).toBe(false)
  expect(log.join()).toContain('chmod o-w')
  chmodSync(join(root, CONF), 0o644)
  write(CONF, 'allowed: remote\nmapped: perhaps\n')
  expect(await sees({ user: 'remote' })).toBe(false)
  expect(log.at(-1)).toContain('line 2: "mapped: perhaps" is neither')
})

test('has names divided by commas or blanks, and comments', () => {
  const { allowed, isMapped } = parseAccess('allowed: a,b  c # d\n  mapped = TRUE\nallowed: e\n')
  expect([[...allowed], isMapped]).toEqual([['a', 'b', 'c', 'e'], true])
})
