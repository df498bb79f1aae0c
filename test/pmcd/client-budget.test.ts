/** Memory and work that a client causes: counted, bounded, and shared fairly. */
import { expect, test } from 'vitest'
import { ByteBudget } from '../../src/base/byte-budget.ts'
import { InstanceSet } from '../../src/model/instance-set.ts'
import { ALL_INSTANCES, type Profile, profileBytes } from '../../src/model/profile.ts'
import type { MetricSource } from '../../src/model/source.ts'
import { WorkQueue } from '../../src/pmcd/work-queue.ts'
import { encodeDescReq } from '../../src/wire/desc.ts'
import { pduName, pduType } from '../../src/wire/pdu.ts'
import { encodePmnsTraverse } from '../../src/wire/pmns.ts'
import { encodeProfile } from '../../src/wire/profile.ts'
import { connectClient } from './parts.ts'

const LARGE: Profile = {
  includeByDefault: true,
  entries: new Map([
    [7, { indom: 7, includeAll: true, instances: InstanceSet.over(new Int32Array(1000).map((_, i) => i)) }],
  ]),
}

function budgetOf(each: number, all: number): { budget: ByteBudget; log: string[] } {
  const log: string[] = []
  return { budget: new ByteBudget({ each, all }, (text) => log.push(text)), log }
}

/** Returns a source that answers look-ups of names, which may be delayed, and counts them. */
function namesSource(): { source: MetricSource; asked: () => number; answer: () => void } {
  const waiting: (() => void)[] = []
  let asked = 0
  const source = {
    traverse: () => {
      asked++
      return new Promise<readonly string[]>((resolve) => waiting.push(() => resolve(['a.b'])))
    },
    descs: async () => [{ pmid: 1, type: 0, indom: 0xffff_ffff, sem: 1, units: 0 }],
  }
  return {
    source: source as unknown as MetricSource,
    asked: () => asked,
    answer: () => {
      for (const each of waiting.splice(0)) each()
    },
  }
}

test('a profile is counted until another one replaces it or the client leaves', () => {
  const { budget } = budgetOf(2 ** 20, 2 ** 20)
  const { client } = connectClient(namesSource().source, { host: { budget } })
  client.receive(encodeProfile(0, LARGE))
  client.receive(encodeProfile(1, LARGE))
  expect(budget.bytes).toBe(2 * profileBytes(LARGE))
  client.receive(encodeProfile(1, ALL_INSTANCES))
  expect(budget.bytes).toBe(profileBytes(LARGE) + profileBytes(ALL_INSTANCES))
  client.whoami = 'pmval'
  client.setContainer('box')
  expect(budget.bytes).toBe(profileBytes(LARGE) + profileBytes(ALL_INSTANCES) + 'pmvalbox'.length)
  client.ended()
  expect(budget.bytes).toBe(0)
})

test('a client that keeps too much is dropped without a reply, and the reason is logged', () => {
  const { budget, log } = budgetOf(10_000, 2 ** 20)
  const { client, events, sent } = connectClient(namesSource().source, { host: { budget } })
  for (let context = 0; context < 3; context++) client.receive(encodeProfile(context, LARGE))
  expect(events).toContain('destroy')
  expect(sent).toHaveLength(1) // the challenge
  expect(log).toEqual(['Client 7 of ::1 is dropped: it holds 14 KiB; the limit is 10 KiB'])
  expect(budget.bytes).toBe(0)
})

test('requests, replies that wait for earlier ones and unread bytes count until they are gone', async () => {
  const { budget } = budgetOf(2 ** 20, 2 ** 20)
  const { source, answer } = namesSource()
  const { client, arrived } = connectClient(source, { host: { budget } })
  client.setHeld(5000)
  client.receive(encodePmnsTraverse(''))
  client.receive(encodeDescReq(1))
  await new Promise((resolve) => setImmediate(resolve))
  expect(budget.bytes).toBeGreaterThan(5000 + 600)
  answer()
  await arrived(3)
  expect(budget.bytes).toBe(5000)
  client.setHeld(0)
  expect(budget.bytes).toBe(0)
})

test('a request for all names waits for its turn, and no further request is read until it is answered', async () => {
  const { source, asked, answer } = namesSource()
  const work = new WorkQueue()
  const { client, events, sent, arrived } = connectClient(source, { host: { work } })
  events.length = 0
  client.receive(encodePmnsTraverse(''))
  expect([asked(), ...events]).toEqual([0, 'pause'])
  work.turn()
  expect([asked(), ...events]).toEqual([1, 'pause'])
  answer()
  await arrived(2)
  await new Promise((resolve) => setImmediate(resolve))
  expect(pduName(pduType(sent[1]!))).toBe('PMNS_NAMES')
  expect(events).toEqual(['pause', 'resume'])
})

test('each turn answers one request for all names, in the order of arrival', () => {
  const { source, asked } = namesSource()
  const work = new WorkQueue()
  const clients = Array.from({ length: 3 }, () => connectClient(source, { host: { work } }).client)
  for (const client of clients) client.receive(encodePmnsTraverse(''))
  for (let turn = 1; turn <= 3; turn++) {
    work.turn()
    expect(asked()).toBe(turn)
  }
})

test('requests of a client that left are not run', () => {
  const { source, asked } = namesSource()
  const work = new WorkQueue()
  const { client } = connectClient(source, { host: { work } })
  client.receive(encodePmnsTraverse(''))
  client.ended()
  work.turn()
  expect(asked()).toBe(0)
})
