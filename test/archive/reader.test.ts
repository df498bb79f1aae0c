import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Archive } from '../../src/archive/archive.ts'
import { RecordReader } from '../../src/archive/reader.ts'
import { isError, PcpError } from '../../src/model/errors.ts'
import { valuesOf } from '../../src/model/value-set.ts'
import {
  archive,
  concat,
  entry,
  frame,
  i32,
  mark,
  memoryFiles,
  result,
  stamp,
  type Version,
} from './build.ts'

const at = (time: number): { sec: number; nsec: number } => ({
  sec: Math.floor(time),
  nsec: Math.round((time % 1) * 1e9),
})

/** A record with one number. */
const point = (version: Version, time: number): Uint8Array =>
  result(version, time, { pmid: 1, values: [[-1, time]] })
const points = (version: Version, ...times: number[]): Uint8Array[] =>
  times.map((time) => point(version, time))

function open(files: Record<string, Uint8Array>, name = 'a'): Archive {
  return Archive.open(name, memoryFiles(files))
}

/** Returns the times of the remaining records, and the error at the end. */
function drain(reader: RecordReader, step: 'next' | 'previous' = 'next'): (number | string)[] {
  const times: (number | string)[] = []
  try {
    for (let record = reader[step](); record !== undefined; record = reader[step]())
      times.push(record.sec + record.nsec / 1e9)
  } catch (error) {
    times.push((error as PcpError).code)
  }
  return times
}

function backwards(files: Record<string, Uint8Array>): (number | string)[] {
  const reader = new RecordReader(open(files))
  reader.toEnd()
  return drain(reader, 'previous')
}

const forwards = (files: Record<string, Uint8Array>): (number | string)[] =>
  drain(new RecordReader(open(files)))

describe.each([2, 3] as Version[])('version %i', (version) => {
  const build = (...volumes: Uint8Array[][]): Record<string, Uint8Array> => archive('a', { version, volumes })

  test('a record is decoded on demand, and its copy outlives the reader', () => {
    const record = result(
      version,
      5.25,
      { pmid: 1, values: [[-1, -7]] },
      { pmid: 2, values: -12345 },
      { pmid: 3, values: [] },
      {
        pmid: 4,
        type: 6,
        values: [
          [0, 'text'],
          [1, ''],
        ],
      },
      { pmid: 0xfffffffe, type: 3, values: [[9, 2n ** 53n]] },
    )
    const reader = new RecordReader(open(build([point(version, 1), record, point(version, 9)])))
    reader.next()
    const view = reader.next()!
    expect([view.sec, view.nsec, view.count, view.volume, view.length]).toEqual([
      5,
      250_000_000,
      5,
      0,
      record.length,
    ])
    expect(view.bytes.subarray(view.offset, view.offset + view.length)).toEqual(record)
    expect([...view.pmids.subarray(0, 5)]).toEqual([1, 2, 3, 4, 0xfffffffe])
    expect([...view.statuses.subarray(0, 5)]).toEqual([1, -12345, 0, 2, 1])
    expect([...view.formats.subarray(0, 5)]).toEqual([0, 0, 0, 1, 1])
    expect(view.find(4)).toBe(3)
    expect(view.find(5)).toBe(-1)
    expect(view.view.getInt32(view.pairs[0]! + 4)).toBe(-7)
    expect(view.view.getUint8(view.blockAt(view.view.getInt32(view.pairs[3]! + 4)))).toBe(6)
    const copy = view.toResult()
    reader.next()
    expect(copy.timestamp).toEqual({ sec: 5, nsec: 250_000_000 })
    expect(valuesOf(copy.sets[3]!, 6)).toEqual([
      { inst: 0, value: 'text' },
      { inst: 1, value: '' },
    ])
    expect(valuesOf(copy.sets[4]!, 3)).toEqual([{ inst: 9, value: 2n ** 53n }])
    expect(copy.sets[1]!.status).toBe(-12345)
  })

  test('volumes follow each other in both directions, from any number on', () => {
    const volumes = [points(version, 1, 2), points(version, 3), [mark(version, 3.001)], points(version, 4, 5)]
    const files = archive('a', { version, volumes, first: 7 })
    expect(forwards(files)).toEqual([1, 2, 3, 3.001, 4, 5])
    expect(backwards(files)).toEqual([5, 4, 3.001, 3, 2, 1])
  })

  test('a volume that is missing, has only a label or a bad one is skipped', () => {
    const files = build(points(version, 1), points(version, 2), [], points(version, 4), points(version, 5))
    delete files['a.1']
    files['a.3'] = concat(new Uint8Array(8), files['a.3']!)
    expect(forwards(files)).toEqual([1, 5])
    expect(backwards(files)).toEqual([5, 1])
  })

  test('the reader changes direction between two records', () => {
    const reader = new RecordReader(open(build(points(version, 1, 2), points(version, 3))))
    expect([reader.next()?.sec, reader.next()?.sec, reader.previous()?.sec]).toEqual([1, 2, 2])
    expect([reader.next()?.sec, reader.next()?.sec, reader.next()]).toEqual([2, 3, undefined])
    expect([reader.previous()?.sec, reader.previous()?.sec]).toEqual([3, 2])
    reader.rewind()
    expect(reader.previous()).toBeUndefined()
    expect(reader.next()?.sec).toBe(1)
  })

  test('appended records are found, and move the end', () => {
    const files = build(points(version, 1))
    const opened = open(files)
    const reader = new RecordReader(opened)
    expect([reader.next()?.sec, reader.next(), reader.next()]).toEqual([1, undefined, undefined])
    expect(opened.end()).toEqual(at(1))
    files['a.0'] = concat(files['a.0']!, point(version, 2))
    expect([reader.next()?.sec, reader.next()]).toEqual([2, undefined])
    expect(opened.end()).toEqual(at(2))
  })

  test('records larger than the buffer are read', () => {
    const big = result(version, 2, { pmid: 4, type: 6, values: [[0, 'x'.repeat(5000)]] })
    const reader = new RecordReader(open(build([point(version, 1), big, point(version, 3)])), {
      bufferBytes: 64,
    })
    expect(drain(reader)).toEqual([1, 2, 3])
    expect(drain(reader, 'previous')).toEqual([3, 2, 1])
  })

  test('a file truncated anywhere gives its complete records', () => {
    const records = [...points(version, 1, 2), mark(version, 2.001), point(version, 3)]
    const files = build(records)
    const whole = files['a.0']!
    const start = whole.length - concat(...records).length
    const ends = records.map((_, i) => start + concat(...records.slice(0, i + 1)).length)
    for (let length = start + 1; length <= whole.length; length++) {
      files['a.0'] = whole.subarray(0, length)
      const count = ends.filter((end) => end <= length).length
      const good = [1, 2, 2.001, 3].slice(0, count)
      expect(forwards(files)).toEqual(good)
      expect(backwards(files)).toEqual(good.reverse())
      const end = open(files).end()
      expect(isError(end) ? end.code : end).toEqual(count === 0 ? 'PM_ERR_LOGREC' : at(good[0]!))
    }
  })

  test('damage in the middle is reported from both sides, each time', () => {
    const files = build(points(version, 1, 2, 3, 4))
    const size = point(version, 1).length
    const start = files['a.0']!.length - 4 * size
    files['a.0']!.fill(0xff, start + size, start + size + 4)
    const reader = new RecordReader(open(files))
    expect(drain(reader)).toEqual([1, 'PM_ERR_LOGREC'])
    expect(() => reader.next()).toThrow(`a.0: damaged record at byte ${start + size}`)
    expect(drain(reader, 'previous')).toEqual([1])
    expect(backwards(files)).toEqual([4, 3, 'PM_ERR_LOGREC'])
    expect(open(files).end()).toEqual(at(4))
  })

  test('values out of bounds are damage, unless checks are off', () => {
    const head = concat(stamp(version, 1), i32(1))
    const bad = [
      frame(stamp(version, 1), i32(-1)),
      frame(stamp(version, 1), i32(2, 1, 0)),
      frame(stamp(version, 1), i32(0, 0)),
      frame(head, i32(1, 1, 0)),
      frame(head, i32(1, 0x7fffffff, 0, 0, 0)),
      frame(head, i32(1, 1, 3, 0, 0)),
      frame(head, i32(1, 1, 0, 0, 0, 99)),
      frame(head, i32(1, 1, 1, 0, 0, 0)),
      frame(head, i32(1, 1, 1, 0, 0x7fffffff, 0x01000004)),
      frame(head, i32(1, 1, 1, 0, -1, 0x01000004)),
    ]
    const block = version === 2 ? 36 / 4 + 2 : 40 / 4 + 2
    bad.push(frame(head, i32(1, 1, 1, 0, block, 0x06000003)))
    bad.push(frame(head, i32(1, 1, 1, 0, block, 0x06000009)))
    bad.push(frame(head, i32(1, 1, 1, 0, block, 0x06000004, 0)))
    bad.push(frame(head, i32(1, 2, 1, 0, block + 2, 1, block + 2, 0x06000004)))
    for (const record of bad) expect(forwards(build([record]))).toEqual(['PM_ERR_LOGREC'])
    expect(forwards(build([frame(head, i32(1, 1, 1, 0, block, 0x06000004))]))).toEqual([1])
    const lazy = new RecordReader(open(build([bad[4]!])), { checkValues: false })
    const record = lazy.next()!
    expect(() => record.index()).toThrow(expect.objectContaining({ code: 'PM_ERR_LOGREC' }))
    const far = new RecordReader(open(build([bad[8]!])), { checkValues: false }).next()!
    expect(() => far.toResult()).toThrow(expect.objectContaining({ code: 'PM_ERR_LOGREC' }))
  })

  describe('seeking', () => {
    const times = [1, 2, 2, 3, 5, 8, 8, 8, 9]
    const records = points(version, ...times)
    const size = records[0]!.length
    const start = archive('a', { version })['a.0']!.length
    const place = (i: number): [number, number] => [i < 5 ? 0 : 1, start + size * (i < 5 ? i : i - 5)]
    const volumes = [records.slice(0, 5), records.slice(5)]
    const good = [0, 3, 5, 8].map((i) => entry(version, times[i]!, place(i)[0], 0, place(i)[1]))
    const indexes = {
      none: 'none' as const,
      good,
      'that names ends of records': [3, 8].map((i) =>
        entry(version, times[i]!, place(i)[0], 0, place(i)[1] + size),
      ),
      'off record boundaries': [0, 3, 5, 8].map((i) =>
        entry(version, times[i]!, place(i)[0], 0, place(i)[1] + 4),
      ),
      'with wrong times': [0, 3, 5, 8].map((i) => entry(version, times[i]! + 2, place(i)[0], 0, place(i)[1])),
      'beyond the files': [...good, entry(version, 9.5, 1, 0, 1e6), entry(version, 9.6, 4, 0, start)],
      'in disorder': [...good].reverse(),
      'cut inside an entry': [...good, new Uint8Array(7)],
    }

    test.each(Object.entries(indexes))('with an index %s gives what a scan gives', (_, index) => {
      const opened = open(archive('a', { version, volumes, index }))
      const reader = new RecordReader(opened)
      for (let time = 0; time <= 10; time += 0.5) {
        reader.seek(at(time), 'forward')
        expect([time, drain(reader)]).toEqual([time, times.filter((one) => one >= time)])
        reader.seek(at(time), 'backward')
        expect([time, drain(reader, 'previous')]).toEqual([
          time,
          times.filter((one) => one <= time).reverse(),
        ])
      }
    })

    test('stops before damage, which the next step reports', () => {
      const files = archive('a', { version, volumes })
      files['a.0']!.fill(0, start + 2 * size, start + 3 * size)
      const reader = new RecordReader(open(files))
      reader.seek(at(8), 'forward')
      expect(drain(reader)).toEqual(['PM_ERR_LOGREC'])
      reader.seek(at(1), 'backward')
      expect(drain(reader, 'previous')).toEqual(['PM_ERR_LOGREC'])
    })
  })
})

test('the end is found from the index if the last record is truncated, and without an index', () => {
  const version = 3
  const records = points(version, 1, 2, 3)
  const size = records[0]!.length
  for (const index of ['none', [entry(version, 2, 0, 0, 808 + size)]] as const) {
    const files = archive('a', { version, volumes: [records], index })
    files['a.0'] = files['a.0']!.subarray(0, -5)
    expect(open(files).end()).toEqual(at(2))
  }
})

test('a large length in damaged data allocates no large buffer', () => {
  const files = archive('a', { volumes: [points(3, 1, 2)] })
  const bytes = files['a.0']!
  const start = bytes.length - 2 * point(3, 1).length
  const length = 0x40000000
  new DataView(bytes.buffer).setInt32(start, length)
  const memory = memoryFiles(files)
  const asked: number[] = []
  const huge = {
    ...memory,
    open(path: string) {
      const source = memory.open(path)
      if (path !== 'a.0') return source
      const readInto = (target: Uint8Array, offset: number): number => {
        asked.push(target.length)
        return source.readInto(target, offset) || target.fill(1).length
      }
      return { bytes: undefined, size: 2 ** 32, readInto, close: () => source.close() }
    },
  }
  const reader = new RecordReader(Archive.open('a', huge))
  expect(drain(reader)).toEqual(['PM_ERR_LOGREC'])
  expect(Math.max(...asked)).toBeLessThanOrEqual(1 << 20)
})

test('for any damage only PcpErrors are thrown, and reading ends', () => {
  const files = archive('a', {
    version: 3,
    volumes: [
      [
        result(
          3,
          1,
          { pmid: 1, values: [[-1, 5]] },
          {
            pmid: 2,
            type: 6,
            values: [
              [0, 'some text'],
              [1, 'x'],
            ],
          },
        ),
        mark(3, 2),
        result(3, 3, { pmid: 3, type: 5, values: [[0, 1.5]] }),
      ],
      points(3, 4, 5),
    ],
    index: [entry(3, 1, 0, 0, 808), entry(3, 4, 1, 0, 808)],
  })
  const names = Object.keys(files)
  const change = fc.record({
    file: fc.constantFrom(...names),
    place: fc.nat(1500),
    byte: fc.oneof(fc.constantFrom(0, 1, 0x7f, 0x80, 0xff), fc.nat(255)),
    cut: fc.oneof({ weight: 5, arbitrary: fc.constant(false) }, fc.constant(true)),
  })
  fc.assert(
    fc.property(fc.array(change, { minLength: 1, maxLength: 3 }), (changes) => {
      const copy = Object.fromEntries(names.map((name) => [name, files[name]!.slice()]))
      for (const { file, place, byte, cut } of changes) {
        if (cut) copy[file] = copy[file]!.subarray(0, place)
        else if (place < copy[file]!.length) copy[file]![place] = byte
      }
      try {
        const opened = open(copy)
        opened.end()
        const reader = new RecordReader(opened)
        expect(drain(reader).length).toBeLessThan(10)
        reader.toEnd()
        expect(drain(reader, 'previous').length).toBeLessThan(10)
        reader.seek(at(3), 'forward')
        reader.seek(at(3), 'backward')
        for (let record = reader.next(); record !== undefined; record = reader.next()) record.toResult()
      } catch (error) {
        expect(error).toBeInstanceOf(PcpError)
      }
    }),
    { numRuns: 1000 },
  )
})

describe('a sparse reader of large records', () => {
  const METRICS = 200
  const INSTANCES = 60
  /** 200 metrics of 60 values, in situ and in blocks of several sizes: about 230 KB. */
  const large = (time: number): Uint8Array =>
    result(
      3,
      time,
      ...Array.from({ length: METRICS }, (_, m) => ({
        pmid: m + 1,
        type: [0, 2, 5, 6][m % 4]!,
        values: Array.from({ length: INSTANCES }, (_, i): [number, number | bigint | string] => {
          const value = time * 1000 + m * 10 + i
          return [i, [value, BigInt(value), value, `text ${value}`][m % 4]!]
        }),
      })),
    )
  const records = [large(1), point(3, 2), large(3), large(4), point(3, 5)]
  const files = archive('a', { version: 3, volumes: [records] })

  test('finds the same values as other readers', () => {
    fc.assert(
      fc.property(
        fc.array(fc.array(fc.tuple(fc.nat(METRICS + 1), fc.nat(METRICS)), { maxLength: 4 }), {
          minLength: records.length,
          maxLength: records.length,
        }),
        fc.boolean(),
        (wanted, isBackward) => {
          const whole = new RecordReader(open(files), { checkValues: false })
          const sparse = new RecordReader(open(files), { checkValues: false, sparse: true })
          for (const reader of [whole, sparse]) if (isBackward) reader.toEnd()
          for (const metrics of wanted) {
            const [a, b] = [whole, sparse].map((reader) => (isBackward ? reader.previous() : reader.next())!)
            expect([b!.sec, b!.length, b!.count]).toEqual([a!.sec, a!.length, a!.count])
            for (const [id, guess] of metrics) {
              const s = b!.find(id, guess)
              expect(s).toBe(a!.find(id))
              if (s < 0) continue
              expect([b!.statuses[s], b!.formats[s]]).toEqual([a!.statuses[s], a!.formats[s]])
              const blocks = [a!, b!].map((record) =>
                Array.from({ length: a!.formats[s] === 0 ? 0 : a!.statuses[s]! }, (_, i) => {
                  const at = record.blockAt(record.view.getInt32(record.pairs[s]! + 8 * i + 4))
                  return String(record.bytes.slice(at, at + (record.view.getInt32(at) & 0xffffff)))
                }),
              )
              expect(blocks[1]).toEqual(blocks[0])
              const pairs = [a!, b!].map((record) =>
                String(record.bytes.slice(record.pairs[s]!, record.pairs[s]! + 8 * INSTANCES)),
              )
              expect(pairs[1]).toBe(pairs[0])
            }
            if (metrics.length === 0)
              expect(b!.toSet(a!.count - 1).bytes).toEqual(a!.toSet(a!.count - 1).bytes)
          }
        },
      ),
      { numRuns: 20 },
    )
  })

  test('searches a record in steps to its end', () => {
    const sets = Array.from({ length: 16 }, (_, m) => ({
      pmid: m + 1,
      type: 0,
      values: [[-1, m]] as [number, number][],
    }))
    const reader = new RecordReader(open(archive('a', { version: 3, volumes: [[result(3, 1, ...sets)]] })), {
      checkValues: false,
      sparse: true,
    })
    const record = reader.next()!
    expect([1, 8, 16, 17].map((id) => record.find(id))).toEqual([0, 7, 15, -1])
  })

  test('reads only a part of the file', () => {
    const source = memoryFiles(files)
    let read = 0
    const counted = {
      ...source,
      open: (path: string) => {
        const file = source.open(path)
        const readInto = (target: Uint8Array, offset: number): number => {
          const got = file.readInto(target, offset)
          read += got
          return got
        }
        return {
          ...file,
          get size() {
            return file.size
          },
          readInto,
        }
      },
    }
    const reader = new RecordReader(Archive.open('a', counted), {
      checkValues: false,
      sparse: true,
      bufferBytes: 1 << 10,
    })
    read = 0
    for (let record = reader.next(); record !== undefined; record = reader.next()) record.find(1)
    expect(read).toBeLessThan(files['a.0']!.length / 2)
  })

  test('ends at a truncated record, and reports a different length at the end', () => {
    const cut = { ...files, 'a.0': files['a.0']!.subarray(0, -point(3, 5).length - 100) }
    expect(drain(new RecordReader(open(cut), { checkValues: false, sparse: true }))).toEqual([1, 2, 3])
    const changed = files['a.0']!.slice()
    changed[changed.length - point(3, 5).length - 1]! ^= 4
    expect(
      drain(new RecordReader(open({ ...files, 'a.0': changed }), { checkValues: false, sparse: true })),
    ).toEqual([1, 2, 3, 'PM_ERR_LOGREC'])
  })
})
