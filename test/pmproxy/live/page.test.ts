import { expect, test } from 'vitest'
import { Page } from '../../../src/pmproxy/live/page.ts'
import { Topic } from '../../../src/pmproxy/live/topic.ts'
import { newStatistics } from '../../../src/pmproxy/statistics.ts'

test('a slow page misses rows but no other messages, and gets the newest row', () => {
  const statistics = newStatistics()
  const sent: { text: string; done: () => void }[] = []
  const page = new Page({ send: (text, done) => void sent.push({ text: String(text), done }) }, statistics)
  const topic = new Topic(1, [])
  const row = (n: number): Buffer => Buffer.from(`${n}`.padEnd(40_000))
  for (let n = 0; n < 1000; n++) page.sendRow(topic, row(n))
  page.send('metadata')
  expect(sent.map(({ text }) => text.trim())).toEqual(['0', '1', 'metadata'])
  expect(statistics.missedRows).toBe(997)
  for (const { done } of sent.slice()) done()
  expect(sent.at(-1)!.text.trim()).toBe('999')
  page.sendRow(topic, row(1000))
  expect(sent.at(-1)!.text.trim()).toBe('1000')
})

test('unsent rows of an ended subscription are dropped', () => {
  const sent: { text: string; done: () => void }[] = []
  const page = new Page(
    { send: (text, done) => void sent.push({ text: String(text), done }) },
    newStatistics(),
  )
  const topic = new Topic(1, [])
  for (let n = 0; n < 5; n++) page.sendRow(topic, Buffer.from(`${n}`.padEnd(70_000)))
  page.forget(topic)
  for (const { done } of sent.slice()) done()
  expect(sent).toHaveLength(1)
})

test('rows from before are sent one list after the other, as fast as the page reads', () => {
  const sent: { text: string; done: () => void }[] = []
  const page = new Page(
    { send: (text, done) => void sent.push({ text: String(text), done }) },
    newStatistics(),
  )
  const lists = [1, 2, 3].map((id) => new Topic(id, []))
  const large = 'x'.repeat(1 << 20)
  for (const list of lists) page.sendPast(list, () => Buffer.from(`${list.id}${large}`))
  const texts = (): string[] => sent.map(({ text }) => text.slice(0, 5))
  expect(texts()).toEqual(['1xxxx'])
  // A row is among those from before, which are made when they are sent.
  page.sendRow(lists[1]!, Buffer.from('a row'))
  expect(texts()).toEqual(['1xxxx'])
  sent[0]!.done()
  expect(texts()).toEqual(['1xxxx', '2xxxx'])
  page.forget(lists[2]!)
  sent[1]!.done()
  expect(texts()).toEqual(['1xxxx', '2xxxx'])
  page.sendRow(lists[1]!, Buffer.from('a row'))
  expect(texts()).toEqual(['1xxxx', '2xxxx', 'a row'])
})
