import { expect, test } from 'vitest'
import { PM_EVENT_FLAG_MISSED, PM_EVENT_FLAG_POINT, unpackEvents } from '../../src/model/events.ts'
import { pmid } from '../../src/model/ids.ts'
import { ALL_INSTANCES } from '../../src/model/profile.ts'
import type { Ask } from '../../src/model/source.ts'
import { PM_TYPE_EVENT, PM_TYPE_HIGHRES_EVENT, PM_TYPE_STRING } from '../../src/model/types.ts'
import { extract } from '../../src/model/value-set.ts'
import { makeSingular } from '../../src/model/value-writer.ts'
import { defineAgent } from '../../src/pmda/define-agent.ts'
import { EventQueue, type EventQueueOptions } from '../../src/pmda/event-queue.ts'
import { openAgent } from '../../src/pmda/open-agent.ts'

const PARAM = pmid(481, 0, 1)
const ask = (client: number): Ask => ({ requester: { client, context: 0, profile: ALL_INSTANCES } })
const at = (sec: number): { sec: number; nsec: number } => ({ sec, nsec: 5000 })

function queueOf(options: Partial<EventQueueOptions<string>> = {}): EventQueue<string> {
  return new EventQueue<string>({
    name: 'lines',
    maxBytes: 10,
    sizeOf: (line) => line.length,
    decode: (line, timestamp) => ({
      timestamp,
      flags: PM_EVENT_FLAG_POINT,
      params: [{ pmid: PARAM, type: PM_TYPE_STRING, value: line }],
    }),
    ...options,
  })
}

/** Events returned to a client: texts, and `+N` for N missed events. */
function got(queue: EventQueue<string>, client: number, type = PM_TYPE_EVENT): string[] {
  const set = makeSingular(PARAM, type, queue.records(ask(client)))
  return unpackEvents(set, 0, type).map(({ flags, missed, params }) =>
    flags === PM_EVENT_FLAG_MISSED ? `+${missed}` : String(extract(params[0]!, 0, PM_TYPE_STRING)),
  )
}

test('each client gets the events since its last fetch', () => {
  const queue = queueOf()
  queue.append('zero', at(1))
  expect(got(queue, 1)).toEqual([])
  queue.append('one', at(1))
  expect(got(queue, 2)).toEqual([])
  queue.append('two', at(2))
  expect(got(queue, 1)).toEqual(['one', 'two'])
  expect(got(queue, 1)).toEqual([])
  expect(got(queue, 2)).toEqual(['two'])
  expect([queue.events, queue.bytes, queue.clients]).toEqual([3, 10, 2])
})

test('events are dropped once every client has fetched them', () => {
  const queue = queueOf()
  queue.append('zero', at(1))
  expect(queue.memory).toBe(0)
  got(queue, 1)
  got(queue, 2)
  queue.append('one', at(1))
  got(queue, 1)
  expect(queue.memory).toBe(3)
  queue.endClient(2)
  expect(queue.memory).toBe(0)
  expect(queue.clients).toBe(1)
})

test('a slow client gets the number of missed events', () => {
  const queue = queueOf()
  got(queue, 1)
  got(queue, 2)
  for (const text of ['aaaa', 'bbbb']) queue.append(text, at(1))
  got(queue, 2)
  for (const text of ['cccc', 'dddd', 'eeee']) queue.append(text, at(2))
  expect(queue.memory).toBe(8)
  expect(got(queue, 1)).toEqual(['dddd', 'eeee', '+3'])
  expect(got(queue, 2)).toEqual(['dddd', 'eeee', '+1'])
  expect(got(queue, 1)).toEqual([])
})

test('an event larger than the queue is counted, logged, and not kept', () => {
  const said: string[] = []
  const queue = queueOf({ log: (_, text) => said.push(text) })
  got(queue, 1)
  queue.append('01234567890', at(1))
  expect(got(queue, 1)).toEqual([])
  expect(queue.events).toBe(1)
  expect(said).toEqual(['lines: an event of 11 bytes is larger than the queue (10): dropped'])
  expect(() => queueOf({ maxBytes: 0 })).toThrow('maxBytes must be above 0')
})

test('a filter hides events from one client until it is removed', () => {
  const queue = queueOf()
  got(queue, 1)
  got(queue, 2)
  queue.setFilter(1, (line) => line.startsWith('x'))
  for (const text of ['x1', 'y1']) queue.append(text, at(1))
  expect(got(queue, 1)).toEqual(['y1'])
  expect(got(queue, 2)).toEqual(['x1', 'y1'])
  queue.setFilter(1, undefined)
  queue.append('x2', at(1))
  expect(got(queue, 1)).toEqual(['x2'])
})

test('access can be required', () => {
  const queue = queueOf({ needsAccess: true })
  expect(() => got(queue, 1)).toThrow('this client was not given access')
  queue.setAccess(1, true)
  queue.append('a', at(1))
  expect(got(queue, 1)).toEqual(['a'])
  queue.setFilter(2, () => false)
  expect(got(queue, 2)).toEqual([])
  queue.setAccess(1, false)
  expect(() => got(queue, 1)).toThrow('this client was not given access')
})

test('the bound holds, and nothing is lost, over many events', () => {
  const queue = queueOf({ maxBytes: 4000 })
  got(queue, 1)
  for (let i = 0; i < 10_000; i++) queue.append(String(i).padStart(4, '0'), at(i))
  expect(queue.memory).toBe(4000)
  const lines = got(queue, 1)
  expect(lines).toHaveLength(1001)
  expect([lines[0], lines[999], lines[1000]]).toEqual(['9000', '9999', '+9000'])
  queue.clear()
  expect([queue.memory, queue.clients]).toEqual([0, 0])
})

test('a metric of an agent: nanoseconds, several records an event, clients that end', async () => {
  const queue = queueOf({
    type: 'highres-event',
    decode: (line, timestamp) =>
      [...line].map((value) => ({
        timestamp,
        flags: PM_EVENT_FLAG_POINT,
        params: [{ pmid: PARAM, type: PM_TYPE_STRING, value }],
      })),
  })
  const row = { sem: 'instant', units: 'none', help: 'Lines' } as const
  const agent = defineAgent({
    name: 'lines',
    domain: 481,
    endClient: (client) => queue.endClient(client),
    metrics: {
      'lines.records': { ...row, item: 0, type: 'highres-event', value: (_, by) => queue.records(by) },
      'lines.text': { ...row, item: 1, type: 'string', value: () => undefined },
    },
  })
  const source = openAgent(agent)
  const id = pmid(481, 0, 0)
  await source.fetch([id], ask(3))
  queue.append('ab', { sec: 7, nsec: 123_456_789 })
  const { sets } = await source.fetch([id], ask(3))
  const records = unpackEvents(sets[0]!, 0, PM_TYPE_HIGHRES_EVENT)
  expect(records.map(({ timestamp }) => timestamp)).toEqual(new Array(2).fill({ sec: 7, nsec: 123_456_789 }))
  source.endClient?.(3)
  expect(queue.clients).toBe(0)
})
