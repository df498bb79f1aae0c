import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { ThreadedReading } from '../../../src/agents/linux/slow-reading.ts'
import { statusOf } from '../../../src/model/errors.ts'
import { pmid } from '../../../src/model/ids.ts'
import type { MetricSpec } from '../../../src/pmda/define.ts'
import { defineAgent } from '../../../src/pmda/define-agent.ts'
import { type AgentSource, openAgent } from '../../../src/pmda/open-agent.ts'
import { ProcFile } from '../../../src/sys/proc.ts'
import { ASK } from '../../lib/agent-catalogue.ts'

let root: string
let file: ProcFile
let parsed: number
let reading: ThreadedReading<number>

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'slow-'))
  mkdirSync(join(root, 'proc'))
  write('1')
  file = new ProcFile(root, '/proc/x')
  parsed = 0
  reading = new ThreadedReading(file, (scan) => {
    parsed++
    return scan.uint()
  })
})

afterEach(() => {
  file.close()
  rmSync(root, { recursive: true })
})

const write = (text: string): void => writeFileSync(join(root, 'proc/x'), text)

test('a read that was begun serves its batch, read once', async () => {
  const batch = {}
  const begun = reading.begin(batch)
  expect(reading.begin(batch)).toBe(begun)
  await begun
  write('2')
  reading.refresh(batch)
  expect([reading.value, parsed]).toEqual([1, 1])
  expect(reading.begin(batch)).toBeUndefined()
  reading.refresh({})
  expect([reading.value, parsed]).toEqual([2, 2])
})

test('a later batch does not use a read begun before it', async () => {
  const first = reading.begin({})
  const batch = {}
  const second = reading.begin(batch)
  await first
  await second
  reading.refresh(batch)
  expect([reading.value, parsed]).toEqual([1, 2])
})

test('a caller that does not wait reads immediately, undisturbed by a pending read', async () => {
  const begun = reading.begin({})
  const batch = {}
  reading.refresh(batch)
  expect(reading.value).toBe(1)
  await begun
  expect(reading.value).toBe(1)
})

test('refresh reports an error, until the file exists', async () => {
  rmSync(join(root, 'proc/x'))
  const batch = {}
  await reading.begin(batch)
  reading.refresh(batch)
  expect(reading.error?.code).toBe('ENOENT')
  expect(() => reading.value).toThrow('/proc/x')
  write('7')
  const later = {}
  await reading.begin(later)
  reading.refresh(later)
  expect([reading.error, reading.value]).toEqual([undefined, 7])
})

test('a file that is closed while it is read is read to its end', async () => {
  const content = 'x'.repeat(100_000)
  write(content)
  const later = file.scanAsync()
  file.close()
  const scan = await later
  expect([scan.end, scan.rest() === content]).toEqual([content.length, true])
})

const base: MetricSpec = { item: 0, type: '32', sem: 'instant', units: 'none', help: 'x', value: () => 1 }

function open(order: string[]): AgentSource {
  const metrics = {
    'demo.slow': {
      ...base,
      reading,
      prefetch: ({ batch }: { batch?: object }) => reading.begin(batch),
      begin: () => void order.push('slow'),
      value: () => reading.value,
    },
    'demo.fast': { ...base, item: 1, begin: () => void order.push('fast'), value: () => 5 },
    'demo.alone': { ...base, item: 2, prefetch: () => undefined, value: () => 6 },
  }
  const heard = { afterRequest: () => order.push('after') }
  return openAgent(defineAgent({ name: 'demo', domain: 400, metrics, ...heard }))
}

const ids = [0, 1, 2, 77].map((item) => pmid(400, 0, item))

test('a fetch works out the rest first, keeps the order, and is over when all is there', async () => {
  const order: string[] = []
  const { sets } = await open(order).fetch(ids, ASK)
  expect(sets.map(({ word, status }) => word[0] ?? status)).toEqual([1, 5, 6, statusOf('PM_ERR_PMID')])
  expect(order).toEqual(['fast', 'slow', 'after'])
})

test('concurrent fetches have the values of their batches', async () => {
  const agent = open([])
  const fetches = Array.from({ length: 5 }, () => agent.fetch(ids, ASK))
  for (const { sets } of await Promise.all(fetches)) expect(sets[0]!.word[0]).toBe(1)
  expect(parsed).toBeGreaterThanOrEqual(5)
})

test('all metrics of a fetch share a batch, even if the request has none', async () => {
  const batches = new Set<unknown>()
  const spec: MetricSpec = {
    ...base,
    begin: ({ batch }) => batches.add(batch),
    value: (_inst, { batch }) => (batches.has(batch) ? 1 : undefined),
  }
  const agent = openAgent(
    defineAgent({ name: 'demo', domain: 400, metrics: { 'demo.a': spec, 'demo.b': { ...spec, item: 1 } } }),
  )
  const { sets } = await agent.fetch(ids, ASK)
  expect([...batches]).toEqual([expect.any(Object)])
  expect(sets.map(({ status }) => status).slice(0, 2)).toEqual([1, 1])
  await agent.fetch(ids, ASK)
  expect(batches.size).toBe(2)
})
