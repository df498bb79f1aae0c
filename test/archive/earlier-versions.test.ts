/** Archives of every earlier version stay readable, with every value. test/fixtures/upgrade/README.md */
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openArchive, type Timestamp } from '../../src/archive.ts'
import { unpackEvents } from '../../src/model/events.ts'
import { valuesOf } from '../../src/model/value-set.ts'
import type { Value } from '../../src/model/values.ts'

const FIXTURES = join('test', 'fixtures', 'upgrade')
const T0 = Date.UTC(2026, 0, 1) / 1000
const NUMBERS: Readonly<Record<string, (i: number) => Value>> = {
  'old.t32': (i) => 0 - i,
  'old.tu32': (i) => 4294967295 - i,
  'old.t64': (i) => -(2n ** 62n) - BigInt(i),
  'old.tu64': (i) => 2n ** 64n - 1n - BigInt(i),
  'old.tfloat': (i) => i / 4,
  'old.tdouble': (i) => Math.PI * i,
  'old.tstring': (i) => `text ${i} äöü`,
}

/** Numbers of 64 bits are numbers where they fit. */
const plain = (value: unknown): unknown => (typeof value === 'bigint' ? String(value) : value)

test.each([
  ['v2', 2],
  ['v3', 3],
  ['gz/v3', 3],
  ['xz/v3', 3],
  ['zst/v3', 3],
] as const)('%s: every record, value, text and label', async (name, version) => {
  const archive = await openArchive(join(FIXTURES, 'archives', name))
  try {
    const { label } = archive.archive
    expect(label).toMatchObject({ version, hostname: 'old.example', timezone: 'UTC', pid: 4711 })
    const names = [...Object.keys(NUMBERS), 'old.count']
    const ids = (await archive.lookupNames(names)).map(Number)
    const descs = await archive.descs(ids)
    const nameOf = new Map(ids.map((id, i) => [id, names[i]!]))
    const typeOf = new Map(descs.map((desc, i) => [ids[i]!, (desc as { type: number }).type]))
    let i = 0
    let marks = 0
    for (const { timestamp, sets } of archive.archive.records({})) {
      if (sets.length === 0) {
        expect(i).toBe(12)
        marks++
        continue
      }
      expect(timestamp).toEqual({ sec: T0 + i, nsec: 0 })
      const values = new Map(
        sets.map((set) => [
          nameOf.get(set.pmid),
          valuesOf(set, typeOf.get(set.pmid)!).map(({ inst, value }) => [inst, plain(value)]),
        ]),
      )
      for (const [metric, valueAt] of Object.entries(NUMBERS))
        expect(values.get(metric), metric).toEqual([[-1, plain(valueAt(i))]])
      const counts = [[7, String(i * 10)], ...(i % 3 === 2 ? [] : [[9, String(i * 100)]])]
      expect(values.get('old.count')!.map(([inst, value]) => [inst, String(value)])).toEqual(counts)
      expect(values.size).toBe(names.length)
      i++
    }
    expect([i, marks]).toEqual([20, 1])
    const count = await archive.lookupName('old.count')
    expect(await archive.text(count, { level: 'oneline' })).toBe('Things counted')
    expect(await archive.text(count)).toBe('Things counted.\nSecond line.')
    if (version !== 3) return
    expect((await archive.contextLabels()).map(({ json }) => json)).toEqual(['{"floor":3,"site":"attic"}'])
    expect((await archive.itemLabels(count)).map(({ json }) => json)).toEqual(['{"unit":"lamp"}'])
  } finally {
    await archive.close()
  }
})

/** What the sample agent of every version reports. */
const CONSTANTS: Readonly<Record<string, Value>> = {
  'sample.long.one': 1,
  'sample.longlong.million': 1_000_000,
  'sample.double.hundred': 100,
  'sample.string.hullo': 'hullo world!',
}

test.each(['02c232b4', 'b4d706e8'])(
  'a recording of %s: values, events, texts and instances',
  async (commit) => {
    const archive = await openArchive(join(FIXTURES, 'recorded', commit, 'sample'))
    try {
      const { label } = archive.archive
      expect(label.version).toBe(3)
      const names = await archive.traverse('')
      const ids = (await archive.lookupNames(names)).map(Number)
      const types = new Map(
        (await archive.descs(ids)).map((desc, i) => [ids[i]!, (desc as { type: number }).type]),
      )
      const nameOf = new Map(ids.map((id, i) => [id, names[i]!]))
      /** Numbers of values and event records by metric. */
      const seen: Record<string, number> = {}
      const times: Timestamp[] = []
      for (const { timestamp, sets } of archive.archive.records({})) {
        times.push(timestamp)
        for (const set of sets) {
          const name = nameOf.get(set.pmid)
          if (name === undefined) continue
          const type = types.get(set.pmid)!
          const values = valuesOf(set, type)
          const isEvent = name.startsWith('sample.event.')
          const records = isEvent ? values.map((_, i) => unpackEvents(set, i, type).length) : [values.length]
          seen[name] = records.reduce((sum, count) => sum + count, seen[name] ?? 0)
          if (name in CONSTANTS)
            expect([name, plain(values[0]!.value)]).toEqual([name, plain(CONSTANTS[name])])
        }
      }
      expect(seen).toMatchObject({
        ...Object.fromEntries(Object.keys(CONSTANTS).map((name) => [name, expect.any(Number) as number])),
        'sample.long.one': 9,
        'sample.longlong.one': 1,
        'sample.long.bin_ctr': 81,
        'simple.now': 27,
        'sample.event.records': 28,
        'sample.event.highres_records': 28,
      })
      const one = await archive.lookupName('sample.long.one')
      expect(await archive.text(one, { level: 'oneline' })).toBe('Always 1, as a signed 32-bit integer')
      for await (const row of archive.sample(['sample.long.bin_ctr'], { from: times.at(5)!, count: 1 }))
        expect(new Map(row.get('sample.long.bin_ctr').instances)).toEqual(
          new Map([100, 200, 300, 400, 500, 600, 700, 800, 900].map((number) => [`bin-${number}`, number])),
        )
    } finally {
      await archive.close()
    }
  },
)
