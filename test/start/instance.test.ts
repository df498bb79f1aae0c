import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type InstanceFacts, instances, publishInstance } from '../../src/start/instance.ts'
import { readInstance } from '../../src/sys/instances.ts'
import { ownIdentity } from '../../src/sys/process-identity.ts'

let dir: string
let env: Record<string, string>
const FACTS: InstanceFacts = {
  version: '1.2.3',
  confPath: '/c',
  logPath: '/l',
  port: 44321,
  listen: [],
  hasSocket: true,
  agents: ['simple'],
}

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'pcp-ts-instance-'))
  env = { HOME: dir, XDG_RUNTIME_DIR: dir }
})
afterEach(() => {
  rmSync(dir, { recursive: true, force: true })
})

function place(name: string): string {
  const path = join(dir, name)
  mkdirSync(path, { recursive: true })
  return path
}

const ofTest = (): readonly string[] =>
  instances(env)
    .map(({ runDir }) => runDir)
    .filter((path) => path.startsWith(dir))

test('an instance is listed from its start until its end, with the state of its parts', () => {
  const run = place('pcp')
  const published = publishInstance(run, FACTS, env, () => 12.4)
  expect(statSync(join(run, 'instance.json')).mode & 0o777).toBe(0o644)
  expect(readInstance(run)).toMatchObject({ ...FACTS, process: ownIdentity(), started: 12, parts: [] })
  expect(ofTest()).toEqual([run])
  published.setPart({ name: 'collector', pid: 5 })
  published.setPart({ name: 'charts', problem: 'was killed by SIGKILL' })
  published.setPart({ name: 'collector', pid: 6 })
  expect(readInstance(run)!.parts).toEqual([
    { name: 'collector', pid: 6 },
    { name: 'charts', problem: 'was killed by SIGKILL' },
  ])
  published.close()
  published.close()
  published.setPart({ name: 'collector', pid: 7 })
  expect(readdirSync(run)).toEqual([])
  expect(ofTest()).toEqual([])
})

test('an instance elsewhere leaves a pointer, which it takes away; others sweep those of dead ones', () => {
  const pointers = join(dir, 'pcp', 'instances')
  const dead = place('dead')
  const published = publishInstance(dead, FACTS, env)
  expect(ofTest()).toEqual([dead])
  expect(readdirSync(pointers)).toHaveLength(1)
  // As after SIGKILL: the record names a process that has ended.
  const record = readInstance(dead)!
  writeFileSync(
    join(dead, 'instance.json'),
    JSON.stringify({ ...record, process: { ...record.process, boot: 'another' } }),
  )
  const other = publishInstance(place('other'), FACTS, env)
  expect(ofTest()).toEqual([join(dir, 'other')])
  expect(readdirSync(pointers).map((name) => readFileSync(join(pointers, name), 'utf8').trim())).toEqual([
    join(dir, 'other'),
  ])
  other.close()
  published.close()
  expect(readdirSync(pointers)).toEqual([])
})

test('the first of two instances in a directory keeps its record', () => {
  const run = place('pcp')
  const first = { ...ownIdentity(), pid: process.ppid, start: '' }
  writeFileSync(
    join(run, 'instance.json'),
    JSON.stringify({ ...FACTS, process: first, node: '', started: 1, parts: [] }),
  )
  const second = publishInstance(run, { ...FACTS, port: 5 }, env)
  second.setPart({ name: 'collector', pid: 1 })
  second.close()
  expect(readInstance(run)).toMatchObject({ port: 44321, parts: [] })
})

test('without a writable home an instance elsewhere runs unlisted', () => {
  const run = place('run')
  writeFileSync(join(dir, 'file'), '')
  const nowhere = { HOME: join(dir, 'file'), XDG_RUNTIME_DIR: join(dir, 'file') }
  publishInstance(run, FACTS, nowhere).close()
  expect(existsSync(join(run, 'instance.json'))).toBe(false)
})
