import { describe, expect, test } from 'vitest'
import { Archive } from '../../src/archive/archive.ts'
import { RecordReader } from '../../src/archive/reader.ts'
import type { PcpError } from '../../src/model/errors.ts'
import {
  archive,
  concat,
  desc,
  entry,
  indom,
  memoryFiles,
  result,
  type TestArchive,
  type Version,
} from './build.ts'

const point = (version: Version, time: number): Uint8Array =>
  result(version, time, { pmid: 1, values: [[-1, time]] })

/** An archive with a record at each of these times. */
function member(
  base: string,
  times: readonly number[],
  options: TestArchive = {},
): Record<string, Uint8Array> {
  const { version = 3 } = options
  const volumes = [times.map((time) => point(version, time))]
  return archive(base, { start: times[0] ?? 0, volumes, ...options })
}

const seconds = ({ sec, nsec }: { sec: number; nsec: number }): number =>
  Math.round(sec * 1e3 + nsec / 1e6) / 1e3

function drain(reader: RecordReader, step: 'next' | 'previous'): (number | string)[] {
  const seen: (number | string)[] = []
  for (;;) {
    try {
      const record = reader[step]()
      if (record === undefined) return seen
      seen.push(record.count === 0 ? `mark ${seconds(record)}` : seconds(record))
    } catch (error) {
      seen.push((error as PcpError).code)
      if (seen.at(-1) !== 'PM_ERR_LOGOVERLAP') return seen
    }
  }
}

function codeOf(files: Record<string, Uint8Array>, name = 'a'): string {
  try {
    Archive.open(name, memoryFiles(files))
    return 'fine'
  } catch (error) {
    return (error as PcpError).code
  }
}

describe('one archive', () => {
  test('opens only the files it needs, and closes all of them', () => {
    const files = memoryFiles(
      archive('d/a', {
        volumes: [[point(3, 1)], [point(3, 2)], [point(3, 3)]],
        index: [entry(3, 1, 0, 0, 808)],
      }),
    )
    const opened = Archive.open('d/a.meta', files)
    expect(files.opened).toEqual(['d/a.0', 'd/a.index', 'd/a.meta'])
    expect(opened.label).toMatchObject({ hostname: 'here', volume: 0 })
    expect(seconds(opened.end() as { sec: number; nsec: number })).toBe(3)
    expect(files.opened.slice(3)).toEqual(['d/a.2'])
    opened.close()
    opened.close()
    expect([...files.closed].sort()).toEqual([...files.opened].sort())
  })

  test.each<[string, Record<string, Uint8Array>]>([
    ['ENOENT', {}],
    ['PM_ERR_LOGFILE', { 'a.0': member('a', [1])['a.0']! }],
    ['PM_ERR_NODATA', member('a', [])],
    ['PM_ERR_NODATA', member('a', [1], { meta: [] })],
    ['PM_ERR_FEATURE', member('a', [1], { features: 1 })],
    ['PM_ERR_LOGREC', member('a', [1], { meta: [new Uint8Array(20).fill(1, 3, 4)] })],
    ['PM_ERR_LABEL', { ...member('a', [1]), 'a.meta': member('a', [1], { pid: 43 })['a.meta']! }],
    ['PM_ERR_LABEL', { ...member('a', [1]), 'a.meta': member('a', [1], { host: 'there' })['a.meta']! }],
    ['PM_ERR_LABEL', { ...member('a', [1]), 'a.meta': member('a', [1], { version: 2 })['a.meta']! }],
    [
      'PM_ERR_LABEL',
      { ...member('a', [1]), 'a.1': member('a', [1])['a.0']!, 'a.0': member('a', [1])['a.meta']! },
    ],
  ])('is refused with %s', (code, files) => {
    expect(codeOf(files)).toBe(code)
  })

  test('that cannot be opened leaves no file open', () => {
    const files = memoryFiles(
      member('a', [1], { meta: [new Uint8Array(20).fill(1, 3, 4)], index: [entry(3, 1, 0, 0, 808)] }),
    )
    expect(() => Archive.open('a', files)).toThrow(expect.objectContaining({ code: 'PM_ERR_LOGREC' }))
    expect([...files.closed].sort()).toEqual([...files.opened].sort())
  })

  test('with unknown features can be opened all the same', () => {
    const files = memoryFiles(member('a', [1], { features: 1 }))
    expect(Archive.open('a', files, { anyFeatures: true }).label.features).toBe(1)
  })
})

describe('several archives', () => {
  const first = member('d/a', [0, 10, 20, 30])
  const second = member('d/b', [50, 60, 70, 80])

  function both(files: Record<string, Uint8Array>, names = 'd'): { forward: unknown; backward: unknown } {
    const opened = Archive.open(names, memoryFiles(files))
    const reader = new RecordReader(opened)
    const forward = drain(reader, 'next')
    reader.toEnd()
    return { forward, backward: drain(reader, 'previous') }
  }

  test.each(['d', 'd/b,d/a', 'd/a.meta,d', 'd/a,d/b.0'])(
    'named %s are one, with marks in between',
    (names) => {
      expect(both({ ...first, ...second }, names)).toEqual({
        forward: [0, 10, 20, 30, 'mark 30.001', 50, 60, 70, 80],
        backward: [80, 70, 60, 50, 'mark 49.999', 30, 20, 10, 0],
      })
    },
  )

  test('may be of different versions', () => {
    const other = member('d/c', [90], { version: 2 })
    const { forward } = both({ ...second, ...other })
    expect(forward).toEqual([50, 60, 70, 80, 'mark 80.001', 90])
  })

  test('a mark between them is in no file', () => {
    const reader = new RecordReader(Archive.open('d', memoryFiles({ ...first, ...second })))
    let record = reader.next()!
    while (record.count !== 0) record = reader.next()!
    expect(record).toMatchObject({ volume: -1, position: -1, member: -1 })
    expect(record.toResult().sets).toEqual([])
  })

  test('seeking chooses the right one', () => {
    const reader = new RecordReader(Archive.open('d', memoryFiles({ ...first, ...second })))
    const seek = (time: number, direction: 'forward' | 'backward'): unknown => {
      reader.seek({ sec: Math.floor(time), nsec: (time % 1) * 1e9 }, direction)
      return drain(reader, direction === 'forward' ? 'next' : 'previous')[0]
    }
    expect([0, 15, 30, 30.0005, 40, 50, 55, 81].map((time) => seek(time, 'forward'))).toEqual([
      0,
      20,
      30,
      'mark 30.001',
      50,
      50,
      60,
      undefined,
    ])
    expect([-1, 15, 30, 40, 49.9995, 50, 55, 81].map((time) => seek(time, 'backward'))).toEqual([
      undefined,
      10,
      30,
      30,
      'mark 49.999',
      50,
      50,
      80,
    ])
  })

  test('that overlap are read one after the other, with a warning', () => {
    const late = member('d/b', [25, 35, 45])
    expect(both({ ...first, ...late })).toEqual({
      forward: [0, 10, 20, 30, 'mark 30.001', 35, 45],
      backward: [45, 35, 'mark 30.001', 30, 20, 10, 0],
    })
    const warnings: string[] = []
    const opened = Archive.open('d', memoryFiles({ ...first, ...late }), {
      onWarning: ({ code }) => warnings.push(code),
    })
    for (let i = 0; i < 2; i++) {
      const reader = new RecordReader(opened)
      drain(reader, 'next')
      drain(reader, 'previous')
    }
    expect(warnings).toEqual(['PM_ERR_LOGOVERLAP', 'PM_ERR_LOGOVERLAP'])
  })

  test('of which one is within another leave no time without its records', () => {
    // The clock was set forward after 20 and back again: the archive with wrong times is within the other.
    const files = {
      ...member('d/a', [0, 10, 20], { index: [entry(3, 20, 0, 0, 808)] }),
      ...member('d/wrong', [52, 53]),
      ...member('d/right', [30, 40, 50, 60, 70]),
      ...member('d/later', [90]),
    }
    expect(both(files)).toEqual({
      forward: [0, 10, 20, 'mark 20.001', 30, 40, 50, 60, 70, 'mark 70.001', 'mark 70.001', 90],
      backward: [90, 'mark 89.999', 'mark 70.001', 70, 60, 50, 40, 30, 'mark 29.999', 20, 10, 0],
    })
    const opened = Archive.open('d', memoryFiles(files))
    const seek = (sec: number, direction: 'forward' | 'backward'): number | undefined => {
      const reader = new RecordReader(opened)
      reader.seek({ sec, nsec: 0 }, direction)
      return (direction === 'forward' ? reader.next() : reader.previous())?.sec
    }
    expect([52, 55, 61].map((sec) => seek(sec, 'forward'))).toEqual([60, 60, 70])
    expect([52, 55, 61].map((sec) => seek(sec, 'backward'))).toEqual([50, 50, 60])
  })

  test('that start at the same time, or are from different hosts, are rejected', () => {
    expect(codeOf({ ...first, ...member('d/b', [0, 5]) }, 'd')).toBe('PM_ERR_LOGOVERLAP')
    expect(codeOf({ ...first, ...member('d/b', [50], { host: 'there' }) }, 'd')).toBe('PM_ERR_LOGHOST')
    const other = member('d/b', [50], { meta: [desc({ pmid: 1, type: 3 }, 'a.metric')] })
    expect(codeOf({ ...first, ...other }, 'd')).toBe('PM_ERR_LOGCHANGETYPE')
  })

  test('unreadable ones are skipped with a warning', () => {
    const warnings: string[] = []
    const bad = member('d/bad', [5], { meta: [desc({ pmid: 9 }, 'ghost'), new Uint8Array(20).fill(1, 3, 4)] })
    const files = memoryFiles({ ...first, ...second, ...bad, 'd/c.meta': new Uint8Array(0) })
    const opened = Archive.open('d/none,d', files, { onWarning: ({ code }) => warnings.push(code) })
    expect(warnings).toEqual(['ENOENT', 'PM_ERR_LOGREC', 'PM_ERR_LOGFILE'])
    expect(opened.members.map(({ base }) => base)).toEqual(['d/a', 'd/b'])
    expect(opened.metadata.names.traverse()).toEqual(['a.metric'])
    expect(codeOf({ 'd/c.meta': new Uint8Array(0) }, 'd,d/x')).toBe('PM_ERR_LOGFILE')
  })

  test('damage in one loses the rest of it, with a warning and a mark', () => {
    const files = { ...first, ...second }
    files['d/a.0'] = files['d/a.0']!.slice()
    files['d/a.0']!.fill(0xff, 808 + point(3, 0).length, 812 + point(3, 0).length)
    const warnings: string[] = []
    const opened = Archive.open('d', memoryFiles(files), { onWarning: ({ code }) => warnings.push(code) })
    const reader = new RecordReader(opened)
    expect(drain(reader, 'next')).toEqual([0, 'mark 0.001', 50, 60, 70, 80])
    reader.toEnd()
    expect(drain(reader, 'previous')).toEqual([80, 70, 60, 50, 'mark 49.999', 30, 20])
    expect(warnings).toEqual(['PM_ERR_LOGREC'])
    const strict = new RecordReader(Archive.open('d', memoryFiles(files), { stopsAtDamage: true }))
    expect(strict.next()?.sec).toBe(0)
    expect(() => strict.next()).toThrow('d/a.0: damaged record at byte')
  })

  test('a tear in one ends its volume, or is an error where reading stops at damage', () => {
    const files = { ...first, ...second }
    files['d/a.0'] = files['d/a.0']!.subarray(0, -5)
    expect(drain(new RecordReader(Archive.open('d', memoryFiles(files))), 'next')).toContain(50)
    const strict = new RecordReader(Archive.open('d', memoryFiles(files), { stopsAtDamage: true }))
    expect(drain(strict, 'next').at(-1)).toBe('PM_ERR_LOGREC')
  })

  test('share their metadata, newest domains by time whatever the order of the list', () => {
    const meta = (version: Version, time: number, name: string): Uint8Array[] => [
      desc({ pmid: 1, indom: 9 }, 'a.metric'),
      indom(version, time, 9, [[1, name]]),
    ]
    const files = {
      ...member('d/a', [0, 10], { meta: meta(3, 0, 'old') }),
      ...member('d/b', [50, 60], { meta: meta(2, 50, 'new'), version: 2 }),
    }
    const { metadata } = Archive.open('d/b,d/a', memoryFiles(files))
    expect(metadata.instances(9, undefined, { sec: 49, nsec: 0 }).names).toEqual(['old'])
    expect(metadata.instances(9, undefined, { sec: 50, nsec: 0 }).names).toEqual(['new'])
  })

  test('three that follow each other closely lose nothing', () => {
    const files = { ...first, ...member('d/b', [30.5, 40]), ...member('d/c', [41]) }
    files['d/b.0'] = concat(files['d/b.0']!, new Uint8Array(2))
    expect(both(files).forward).toEqual([0, 10, 20, 30, 'mark 30.001', 30.5, 40, 'mark 40.001', 41])
  })
})

test('a volume that was begun when the archive was opened is read once it has records', () => {
  const volumes = [[result(3, 1, { pmid: 1, values: [] })], [result(3, 2, { pmid: 1, values: [] })]]
  const contents = archive('a', { volumes })
  const begun = contents['a.1']!
  contents['a.1'] = begun.subarray(0, begun.length - volumes[1]![0]!.length)
  const opened = Archive.open('a', memoryFiles(contents))
  const reader = new RecordReader(opened)
  expect([reader.next()?.sec, reader.next(), opened.end()]).toEqual([1, undefined, { sec: 1, nsec: 0 }])
  contents['a.1'] = begun
  expect([reader.next()?.sec, reader.next(), opened.end()]).toEqual([2, undefined, { sec: 2, nsec: 0 }])
})

test('an index with a wrong end or start of a volume does not hide the records of the other volume', () => {
  const volumes = [
    [point(3, 10), point(3, 20)],
    [point(3, 30), point(3, 40)],
  ]
  const length = point(3, 10).length
  const found = (time: number, direction: 'forward' | 'backward', wrong: Uint8Array): number | undefined => {
    const files = archive('a', { volumes, start: 10, index: [wrong] })
    const reader = new RecordReader(Archive.open('a', memoryFiles(files)))
    reader.seek({ sec: time, nsec: 0 }, direction)
    return (direction === 'forward' ? reader.next() : reader.previous())?.sec
  }
  expect(found(35, 'backward', entry(3, 38, 0, 0, 808 + 2 * length))).toBe(30)
  expect(found(15, 'forward', entry(3, 12, 1, 0, 808))).toBe(20)
})
