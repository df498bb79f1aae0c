/** Properties for any input: instance cache files, lines in pieces, clients of event queues. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { PcpError } from '../../src/model/errors.ts'
import { PM_EVENT_FLAG_MISSED, unpackEvents } from '../../src/model/events.ts'
import { pmid } from '../../src/model/ids.ts'
import { ALL_INSTANCES } from '../../src/model/profile.ts'
import { PM_TYPE_EVENT, PM_TYPE_U32 } from '../../src/model/types.ts'
import { extract } from '../../src/model/value-set.ts'
import { makeSingular } from '../../src/model/value-writer.ts'
import { formatCache, MAX_INST, parseCache } from '../../src/pmda/cache/file.ts'
import { EventQueue } from '../../src/pmda/event-queue.ts'
import { LineSplitter } from '../../src/pmda/feeds/lines.ts'

const key = fc.string({
  unit: fc.nat(255).map((byte) => String.fromCharCode(byte)),
  minLength: 1,
  maxLength: 20,
})
const instance = fc.record({
  id: fc.nat(MAX_INST),
  stamp: fc.integer({ min: 1, max: 2 ** 33 }),
  key: fc.option(key, { nil: undefined }),
  name: fc.string().filter((name) => !name.includes('\n') && !name.startsWith('[')),
})

test('a saved cache is read back unchanged', () => {
  fc.assert(
    fc.property(fc.boolean(), fc.nat(MAX_INST), fc.array(instance), (reuses, maximum, instances) => {
      const cache = { reuses, maximum, instances }
      expect(parseCache(formatCache(cache, 0), 'file')).toEqual(cache)
    }),
  )
})

test('a damaged cache file is refused by PcpError, or read', () => {
  const line = fc.constantFrom(
    '2 0 2147483647',
    '1 1',
    '0 17 red',
    '1 17 [01] x',
    '1 17',
    '[01] x',
    '99999999999 1 x',
    '',
  )
  fc.assert(
    fc.property(fc.array(fc.oneof(line, fc.string())), (lines) => {
      try {
        parseCache(lines.join('\n'), 'file')
      } catch (error) {
        expect(error).toBeInstanceOf(PcpError)
      }
    }),
  )
})

test('lines do not depend on how their bytes are split', () => {
  const text = fc.array(fc.constantFrom('a', 'bc', '\n', '\r\n', 'ä', '')).map((parts) => parts.join(''))
  fc.assert(
    fc.property(text, fc.array(fc.nat(7)), (whole, cuts) => {
      const split = (pieces: Iterable<Uint8Array>): string[] => {
        const lines: string[] = []
        const splitter = new LineSplitter(1000, (line) => lines.push(line))
        for (const piece of pieces) splitter.push(piece)
        splitter.finish()
        return lines
      }
      const bytes = new TextEncoder().encode(whole)
      const pieces: Uint8Array[] = []
      let at = 0
      for (const cut of cuts) {
        pieces.push(bytes.subarray(at, at + cut))
        at += cut
      }
      pieces.push(bytes.subarray(Math.min(at, bytes.length)))
      expect(split(pieces)).toEqual(split([bytes]))
      expect(split([bytes]).join('\n')).toBe(whole.replaceAll('\r\n', '\n').replace(/\n$/, ''))
    }),
  )
})

test('every client gets each event once and in order, or a record of missed events', () => {
  const step = fc.oneof(
    fc.record({ append: fc.integer({ min: 1, max: 10 }) }),
    fc.record({ fetch: fc.nat(2) }),
  )
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), fc.integer({ min: 1, max: 40 }), (steps, maxBytes) => {
      const queue = new EventQueue<number>({
        name: 'q',
        maxBytes: maxBytes * 4,
        sizeOf: () => 4,
        decode: (number, timestamp) => ({
          timestamp,
          flags: 1,
          params: [{ pmid: pmid(1, 0, 0), type: PM_TYPE_U32, value: number }],
        }),
      })
      let appended = 0
      const next = new Map<number, number>()
      for (const each of steps) {
        if ('append' in each) {
          for (let i = 0; i < each.append; i++) queue.append(appended++, { sec: 1, nsec: 0 })
          expect(queue.memory).toBeLessThanOrEqual(maxBytes * 4)
          continue
        }
        const requester = { client: each.fetch, context: 0, profile: ALL_INSTANCES }
        const set = makeSingular(pmid(1, 0, 1), PM_TYPE_EVENT, queue.records({ requester }))
        const records = unpackEvents(set, 0, PM_TYPE_EVENT)
        const missed = records.find(({ flags }) => flags === PM_EVENT_FLAG_MISSED)?.missed ?? 0
        const got = records
          .filter(({ flags }) => flags !== PM_EVENT_FLAG_MISSED)
          .map(({ params }) => extract(params[0]!, 0, PM_TYPE_U32))
        const from = (next.get(each.fetch) ?? appended) + missed
        expect(got).toEqual(Array.from({ length: appended - from }, (_, i) => from + i))
        next.set(each.fetch, appended)
      }
      const waiting = [...next.values()].map((at) => appended - at)
      expect(queue.memory / 4).toBe(Math.min(maxBytes, Math.max(0, ...waiting)))
    }),
  )
})
