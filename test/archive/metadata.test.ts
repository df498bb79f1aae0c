import { describe, expect, test } from 'vitest'
import { Metadata } from '../../src/archive/metadata.ts'
import type { PcpError } from '../../src/model/errors.ts'
import { concat, desc, frame, i32, indom, labels, stamp, text, type Version } from './build.ts'

const DISK = 5 << 22
const at = (sec: number): { sec: number; nsec: number } => ({ sec, nsec: 0 })

function load(...records: Uint8Array[]): Metadata {
  const metadata = new Metadata()
  metadata.add(concat(...records), 0, 'x.meta')
  return metadata
}

function codeOf(...records: Uint8Array[]): string {
  try {
    load(...records)
    return 'fine'
  } catch (error) {
    return (error as PcpError).code
  }
}

const one = desc({ pmid: 1, indom: DISK }, 'disk.read')

/** Instances as `id name` at a time. */
function shown(metadata: Metadata, sec?: number): string[] {
  const { ids, names } = metadata.instances(DISK, undefined, sec === undefined ? undefined : at(sec))
  return ids.map((id, i) => `${id} ${names[i]}`)
}

describe('descriptors and names', () => {
  test('are read, with several names each', () => {
    const metadata = load(desc({ pmid: 7, type: 3, indom: -1, sem: 1, units: 0x00100000 }, 'a.b', 'c'))
    expect(metadata.descs.get(7)).toEqual({ pmid: 7, type: 3, indom: 0xffffffff, sem: 1, units: 0x00100000 })
    expect(metadata.names.namesOf(7)).toEqual(['a.b', 'c'])
  })

  test('siblings are in reverse order of their first appearance', () => {
    const metadata = load(
      desc({ pmid: 1 }, 'a.x'),
      desc({ pmid: 2 }, 'b.y'),
      desc({ pmid: 3 }, 'a.z'),
      desc({ pmid: 4 }, 'c'),
    )
    expect(metadata.names.traverse()).toEqual(['c', 'b.y', 'a.z', 'a.x'])
  })

  test('the first PMID of a name counts; a name ends at a NUL; a metric may have none', () => {
    const metadata = load(desc({ pmid: 1 }, 'a'), desc({ pmid: 2 }, 'a', 'b\0rest'), desc({ pmid: 3 }))
    expect(metadata.names.lookup('a')).toBe(1)
    expect(metadata.names.lookup('b')).toBe(2)
    expect(metadata.descs.size).toBe(3)
  })

  test('a name with others below it is not a metric, in either order', () => {
    const metadata = load(desc({ pmid: 1 }, 'x.y'), desc({ pmid: 2 }, 'x.y.z'), desc({ pmid: 3 }, 'x'))
    expect(metadata.names.traverse()).toEqual(['x.y.z'])
    expect(load(desc({ pmid: 1 }, '', 'a..b', '.a', 'a.', 'fine')).names.traverse()).toEqual(['fine'])
  })

  test('are found singly as in the name space', () => {
    const records = [
      desc({ pmid: 1 }, 'x.y', 'twice'),
      desc({ pmid: 2 }, 'x.y.z', 'twice'),
      desc({ pmid: 3 }, 'x', 'long\0rest'),
      desc({ pmid: 4 }, 'longer', ''),
    ]
    for (const name of ['x', 'x.y', 'x.y.z', 'twice', 'long', 'longer', 'lon', 'long\0rest', '', '.', 'x.'])
      expect([name, load(...records).lookup(name)]).toEqual([name, load(...records).names.lookup(name)])
    const metadata = load(...records)
    for (let i = 0; i < 20; i++) expect(metadata.lookup('twice')).toBe(1)
  })

  test('may have any depth up to the longest name; longer ones are damage', () => {
    const deep = `${'a.'.repeat(2047)}ab`
    expect(load(desc({ pmid: 1 }, deep)).names.traverse('')).toEqual([deep])
    expect(codeOf(desc({ pmid: 1 }, `${'a.'.repeat(2048)}b`))).toBe('PM_ERR_LOGREC')
  })

  test('a repeated descriptor is accepted, a different one is not', () => {
    expect(codeOf(desc({ pmid: 1 }, 'a'), desc({ pmid: 1 }, 'b'))).toBe('fine')
    expect(codeOf(desc({ pmid: 1 }), desc({ pmid: 1, type: 1, sem: 1 }))).toBe('PM_ERR_LOGCHANGETYPE')
    expect(codeOf(desc({ pmid: 1 }), desc({ pmid: 1, sem: 1, indom: 5 }))).toBe('PM_ERR_LOGCHANGESEM')
    expect(codeOf(desc({ pmid: 1 }), desc({ pmid: 1, indom: 5 }))).toBe('PM_ERR_LOGCHANGEINDOM')
    expect(codeOf(desc({ pmid: 1 }), desc({ pmid: 1, units: 0x00100000 }))).toBe('PM_ERR_LOGCHANGEUNITS')
  })
})

describe.each([2, 3] as Version[])('instance domains, version %i', (version) => {
  const whole = (time: number, ...instances: [number, string][]): Uint8Array =>
    indom(version, time, DISK, instances)

  test('the newest snapshot at or before a time applies, sorted by id', () => {
    const metadata = load(one, whole(10, [2, 'sdb'], [1, 'sda']), whole(20, [2, 'sdb'], [3, 'sdc']))
    expect(shown(metadata, 10)).toEqual(['1 sda', '2 sdb'])
    expect(shown(metadata, 19)).toEqual(['1 sda', '2 sdb'])
    expect(shown(metadata, 20)).toEqual(['2 sdb', '3 sdc'])
    expect(() => shown(metadata, 9)).toThrow(expect.objectContaining({ code: 'PM_ERR_INDOM_LOG' }))
  })

  test('over the whole life the newest name of each instance counts, newest snapshot first', () => {
    const metadata = load(one, whole(10, [1, 'sda'], [2, 'old']), whole(20, [2, 'new'], [3, 'sdc']))
    expect(shown(metadata)).toEqual(['2 new', '3 sdc', '1 sda'])
    expect(metadata.instances(DISK, { name: 'old' }, undefined).ids).toEqual([2])
    expect(metadata.instances(DISK, { id: 2 }, undefined).names).toEqual(['new'])
    expect(metadata.instances(DISK, { id: 2 }, at(15)).names).toEqual(['old'])
    expect(() => metadata.instances(DISK, { id: 1 }, at(25))).toThrow(
      expect.objectContaining({ code: 'PM_ERR_INST_LOG' }),
    )
  })

  test('a name matches exactly, or else up to its first blank', () => {
    const metadata = load(one, whole(10, [1, '1 minute'], [5, '5 minute'], [7, '1']))
    expect(metadata.instances(DISK, { name: '1' }, at(10)).ids).toEqual([7])
    expect(metadata.instances(DISK, { name: '5' }, at(10)).ids).toEqual([5])
    expect(() => metadata.instances(DISK, { name: '6' }, at(10))).toThrow(/PM_ERR|not in the archive/)
  })

  test('of snapshots at one time the last one applies, repeated ones are kept once, empty ones never', () => {
    const repeated = whole(10, [1, 'a'])
    const metadata = load(one, repeated, repeated, whole(10, [1, 'b']), whole(20))
    expect(metadata.snapshots(DISK).map(({ sec, ids }) => [sec, ...ids])).toEqual([
      [10, 1],
      [10, 1],
    ])
    expect(shown(metadata, 30)).toEqual(['1 b'])
  })

  test('PM_INDOM_NULL has no instances, unknown domains are unknown', () => {
    const metadata = load(one)
    expect(() => metadata.instances(0xffffffff, undefined, undefined)).toThrow(
      expect.objectContaining({ code: 'PM_ERR_INDOM' }),
    )
    expect(() => metadata.instances(9, undefined, undefined)).toThrow(
      expect.objectContaining({ code: 'PM_ERR_INDOM_LOG' }),
    )
    expect(metadata.snapshots(9)).toEqual([])
  })
})

describe('changes of instance domains', () => {
  const full = indom(3, 10, DISK, [
    [1, 'a'],
    [3, 'c'],
    [5, 'e'],
  ])
  const delta = (time: number, ...instances: [number, string | undefined][]): Uint8Array =>
    indom(3, time, DISK, instances, true)

  test('are applied to the snapshots before them', () => {
    const metadata = load(
      one,
      full,
      delta(20, [1, undefined], [2, 'b'], [9, 'i']),
      delta(30, [2, undefined], [4, 'd']),
    )
    expect(shown(metadata, 15)).toEqual(['1 a', '3 c', '5 e'])
    expect(shown(metadata, 30)).toEqual(['3 c', '4 d', '5 e', '9 i'])
    expect(shown(metadata, 20)).toEqual(['2 b', '3 c', '5 e', '9 i'])
    expect(shown(metadata)).toEqual(['3 c', '4 d', '5 e', '9 i', '2 b', '1 a'])
  })

  test('an existing instance keeps its name, deleting a missing one has no effect', () => {
    const metadata = load(one, full, delta(20, [1, 'other'], [2, undefined]))
    expect(shown(metadata, 20)).toEqual(['1 a', '3 c', '5 e'])
  })

  test('an instance deleted and added in one change has its new name', () => {
    const metadata = load(one, full, delta(20, [3, undefined], [3, 'new']))
    expect(shown(metadata, 20)).toEqual(['1 a', '3 new', '5 e'])
  })

  test('span two members whose domains are in different files', () => {
    const metadata = load(one, full)
    metadata.add(concat(one, delta(20, [2, 'b'])), 0, 'y.meta')
    metadata.add(concat(one, delta(30, [1, undefined])), 0, 'z.meta')
    expect(shown(metadata, 30)).toEqual(['2 b', '3 c', '5 e'])
  })

  test('without a predecessor apply to an empty domain', () => {
    expect(shown(load(one, delta(20, [1, 'a'], [2, undefined])), 20)).toEqual(['1 a'])
  })

  test('a hundred of them give the same as applying them one after the other', () => {
    const records: Uint8Array[] = [full]
    const now = new Map<number, string>([
      [1, 'a'],
      [3, 'c'],
      [5, 'e'],
    ])
    const expected: string[][] = []
    for (let i = 1; i <= 100; i++) {
      const id = (i * 7) % 13
      const has = now.has(id)
      records.push(delta(10 + i, [id, has ? undefined : `n${i}`]))
      if (has) now.delete(id)
      else now.set(id, `n${i}`)
      expected.push([...now].sort((a, b) => a[0] - b[0]).map(([inst, name]) => `${inst} ${name}`))
    }
    const metadata = load(one, ...records)
    expect(shown(metadata, 60)).toEqual(expected[49])
    for (const [i, list] of expected.entries()) expect(shown(metadata, 11 + i)).toEqual(list)
  })
})

describe.each([2, 3] as Version[])('labels and texts, version %i', (version) => {
  test('the newest labels at or before a time apply; of equal times those read first', () => {
    const metadata = load(
      one,
      labels(version, 10, 1, -1, [[-1, { hostname: 'a' }]]),
      labels(version, 20, 1, -1, [[-1, { hostname: 'b' }]]),
      labels(version, 20, 1, -1, [[-1, { hostname: 'c' }]]),
    )
    const query = { level: 1, id: 0xffffffff }
    expect(metadata.labels(query, at(9))).toEqual([])
    expect(metadata.labels(query, at(19))[0]?.json).toBe('{"hostname":"a"}')
    expect(metadata.labels(query, at(20))).toEqual([
      {
        inst: -1,
        status: 0,
        json: '{"hostname":"b"}',
        labels: [{ name: 'hostname', value: '"b"', flags: 1 }],
      },
    ])
    expect(metadata.labels(query, undefined)[0]?.json).toBe('{"hostname":"b"}')
    expect(metadata.labels({ level: 2, id: 5 }, undefined)).toEqual([])
  })

  test('labels of the context are found whatever id a record has', () => {
    const metadata = load(
      one,
      labels(version, 10, 1, 0, [[-1, { hostname: 'a' }]]),
      labels(version, 20, 0x41, 7, [[-1, { hostname: 'b' }]]),
    )
    const found = [0, 5, -1 >>> 0].map((id) => metadata.labels({ level: 1, id }, at(19))[0]?.json)
    expect(found).toEqual(Array(3).fill('{"hostname":"a"}'))
    expect(metadata.labels({ level: 1, id: -1 >>> 0 }, undefined)[0]?.json).toBe('{"hostname":"b"}')
  })

  test('labels of instances are one set each', () => {
    const metadata = load(
      one,
      labels(version, 10, 0x20, DISK, [
        [1, { x: '1' }],
        [2, {}],
      ]),
    )
    expect(
      metadata.labels({ level: 32, id: DISK }, at(10)).map(({ inst, labels: list }) => [inst, list.length]),
    ).toEqual([
      [1, 1],
      [2, 0],
    ])
  })

  test('the text read last counts, and texts may be empty', () => {
    const metadata = load(
      one,
      text(5, 1, 'first'),
      text(5, 1, 'second'),
      text(10, DISK, ''),
      text(3, 1, 'neither'),
    )
    expect(metadata.text({ kind: 'metric', id: 1, level: 'oneline' })).toBe('second')
    expect(metadata.text({ kind: 'indom', id: DISK, level: 'help' })).toBe('')
    expect(metadata.text({ kind: 'metric', id: 1, level: 'help' })).toBeUndefined()
    expect(metadata.textIds('metric', 'oneline')).toEqual([1])
    expect(metadata.textIds('metric', 'help')).toEqual([])
  })
})

describe('damage', () => {
  const records = concat(
    one,
    indom(3, 10, DISK, [
      [1, 'a'],
      [2, 'b'],
    ]),
    indom(3, 20, DISK, [[2, undefined]], true),
    labels(3, 10, 1, -1, [[-1, { hostname: 'a' }]]),
    text(5, 1, 'help'),
  )

  test('an end inside a record is damage, unless it is inside the first 8 bytes', () => {
    const ends = new Set<number>()
    for (let at = 0; at < records.length; at += new DataView(records.buffer).getInt32(at)) ends.add(at)
    for (let length = 1; length < records.length; length++) {
      const start = Math.max(...[...ends].filter((end) => end <= length))
      const expected =
        length < one.length
          ? length < 8
            ? 'PM_ERR_NODATA'
            : 'PM_ERR_LOGREC'
          : length - start < 8
            ? 'fine'
            : 'PM_ERR_LOGREC'
      expect([length, codeOf(records.subarray(0, length).slice())]).toEqual([length, expected])
    }
  })

  test('every word set to -1, 0 and the maximum is read or rejected, and queries do not fail', () => {
    const codes = new Map<string, number>()
    for (let word = 0; word + 4 <= records.length; word += 1)
      for (const value of [-1, 0, 0x7fffffff]) {
        const copy = records.slice()
        new DataView(copy.buffer).setInt32(word, value)
        const code = codeOf(copy)
        codes.set(code, (codes.get(code) ?? 0) + 1)
        expect(code).toMatch(/^(fine|PM_ERR_(LOGREC|RECTYPE|NODATA|LOGCHANGE\w+))$/)
        if (code !== 'fine') continue
        const metadata = load(copy)
        metadata.names.traverse()
        for (const id of metadata.indoms)
          for (const snapshot of metadata.snapshots(id))
            for (let i = 0; i < snapshot.ids.length; i++) snapshot.name(i)
        metadata.labels({ level: 1, id: 0xffffffff }, undefined)
        for (const id of metadata.textIds('metric', 'oneline'))
          metadata.text({ kind: 'metric', id, level: 'oneline' })
      }
    expect(codes.get('PM_ERR_LOGREC')).toBeGreaterThan(50)
    expect(codes.get('fine')).toBeGreaterThan(50)
  })

  test('counts and offsets out of bounds are damage, with file and offset in the message', () => {
    expect(() => load(one, frame(i32(5), stamp(3, 1), i32(DISK, 1000, 1)))).toThrow(
      `x.meta: damaged record at byte ${one.length}`,
    )
    expect(codeOf(one, frame(i32(5), stamp(3, 1), i32(DISK, -1)))).toBe('PM_ERR_LOGREC')
    expect(codeOf(one, indom(3, 1, DISK, [[-1, 'a']]))).toBe('PM_ERR_LOGREC')
    expect(codeOf(one, indom(3, 1, DISK, [[1, undefined]]))).toBe('PM_ERR_LOGREC')
    expect(codeOf(one, frame(i32(9, 0)))).toBe('PM_ERR_RECTYPE')
    expect(codeOf(text(5, 1, 'only this'))).toBe('PM_ERR_NODATA')
  })
})
