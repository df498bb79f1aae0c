import { describe, expect, test } from 'vitest'
import { type MemoryOutput, memoryOutput } from '../../../src/archive/write/memory-output.ts'
import type { OutputFiles } from '../../../src/archive/write/output-files.ts'
import { RecordBuffer } from '../../../src/archive/write/record-buffer.ts'
import { ArchiveWriter, type WriterOptions } from '../../../src/archive/write/writer.ts'
import { PcpError } from '../../../src/model/errors.ts'
import { makeLabelSet } from '../../../src/model/label-set.ts'
import { PM_SEM_COUNTER, PM_TYPE_32, PM_TYPE_STRING, PM_TYPE_U64 } from '../../../src/model/types.ts'
import { makeSet, makeSingular } from '../../../src/model/value-writer.ts'
import { emptySet } from '../../../src/model/values.ts'

const PMID = 0x0a000401
const INDOM = 0x0a000007
const NO_INDOM = 0xffffffff
const at = (sec: number, nsec = 0): { sec: number; nsec: number } => ({ sec, nsec })

function newArchive(options: Partial<WriterOptions> = {}): {
  writer: ArchiveWriter
  hex(part: string, from?: number): string
  size(part: string): number | undefined
} {
  const output = memoryOutput('t')
  const writer = ArchiveWriter.create(output, { hostname: 'h', timezone: 'UTC', pid: 7, ...options })
  const bytes = (part: string): Uint8Array => output.contents().get(part)!
  return {
    writer,
    hex: (part, from = 0) => toHex(bytes(part).subarray(from)),
    size: (part) => output.contents().get(part)?.length,
  }
}

/** Words of eight hex digits. */
function toHex(bytes: Uint8Array): string {
  const digits = [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')
  return (digits.match(/.{1,8}/g) ?? []).join(' ')
}

const words = (text: string): string => text.trim().split(/\s+/).join(' ')

/** Time, volume, offset in the metadata and in the volume of entries of version 2. */
function entries(hex: string): number[][] {
  const w = hex.split(' ').map((word) => Number.parseInt(word, 16))
  const rows: number[][] = []
  for (let i = 0; i < w.length; i += 5) rows.push([w[i]!, ...w.slice(i + 2, i + 5)])
  return rows
}

describe('records, byte for byte', () => {
  const sets = [
    makeSet(PMID, PM_TYPE_32, [0, 2], [-1, 258]),
    emptySet(0x0a000402, -12350),
    makeSingular(0x0a000403, PM_TYPE_STRING, 'abc'),
    emptySet(0x0a000404),
    makeSet(0x0a000405, PM_TYPE_U64, [1], [2 ** 32 + 5]),
  ]

  test('a result of version 2', () => {
    const { writer, hex } = newArchive({ version: 2 })
    writer.result(at(1_000_000_000, 250_000_999), sets)
    expect(hex('0', 132)).toBe(
      words(`0000007c 3b9aca00 0003d090 00000005
        0a000401 00000002 00000000 00000000 ffffffff 00000002 00000102
        0a000402 ffffcfc2
        0a000403 00000001 00000001 ffffffff 0000001b
        0a000404 00000000
        0a000405 00000001 00000001 00000001 0000001d
        06000008 61626300
        0300000c 00000001 00000005
        0000007c`),
    )
  })

  test('a result of version 3, beyond 32 bits of seconds', () => {
    const { writer, hex } = newArchive({ version: 3 })
    writer.result(at(2 ** 32 + 3, 999_999_999), sets.slice(2, 3))
    expect(hex('0', 808)).toBe(
      words(
        '00000034 00000003 00000001 3b9ac9ff 00000001 0a000403 00000001 00000001 ffffffff 0000000c 06000008 61626300 00000034',
      ),
    )
  })

  test('text blocks are padded to whole words', () => {
    const { writer, hex } = newArchive({ version: 2 })
    writer.result(at(1), [makeSingular(PMID, PM_TYPE_STRING, 'é')])
    expect(hex('0', 132).endsWith('06000007 c3a9007e 00000030')).toBe(true)
  })

  test('marks of both versions', () => {
    for (const [version, expected] of [
      [2, '00000014 00000002 000003e6 00000000 00000014'],
      [3, '00000018 00000002 00000000 000f3e57 00000000 00000018'],
    ] as const) {
      const { writer, hex } = newArchive({ version })
      writer.result(at(1, 999_999_000 - 1), [emptySet(PMID)])
      const size = writer.volumeBytes
      writer.mark()
      expect(hex('0', size)).toBe(expected)
    }
  })

  test('descriptor, texts, domain and labels of version 2', () => {
    const { writer, hex } = newArchive({ version: 2 })
    writer.desc({ pmid: PMID, type: PM_TYPE_32, indom: INDOM, sem: PM_SEM_COUNTER, units: 0x00100000 }, [
      'a.b',
      'c',
    ])
    writer.text({ kind: 'indom', id: INDOM, level: 'help' }, 'x')
    writer.instances(at(1, 5000), INDOM, [3, 1], ['three', 'one'])
    writer.labels(at(1, 5000), 1, NO_INDOM, [makeLabelSet({ k: 'v' }, 1)])
    expect(hex('meta', 132)).toBe(
      toHex(
        Uint8Array.from(
          words(`00000030 00000001 0a000401 00000000 0a000007 00000001 00100000 00000002 00000003 612e62 00000001 63 00000030
            00000016 00000004 0000000a 0a000007 7800 00000016
            00000036 00000002 00000001 00000005 0a000007 00000002 00000001 00000003 00000000 00000004 6f6e6500 746872656500 00000036
            0000003d 00000003 00000001 00000005 00000001 ffffffff 00000001 ffffffff 00000009 7b226b223a2276227d 00000001 00020101 00050003 0000003d`)
            .replaceAll(' ', '')
            .match(/../g)!,
          (pair) => Number.parseInt(pair, 16),
        ),
      ),
    )
  })
})

describe('instance domains', () => {
  const types = (version: 2 | 3, steps: readonly (readonly [number[], string[]])[]): (number | false)[] => {
    const { writer, hex } = newArchive({ version })
    writer.start(at(0))
    return steps.map(([ids, names], i) => {
      const size = writer.metaBytes
      return (
        writer.instances(at(i), INDOM, ids, names) && Number.parseInt(hex('meta', size).split(' ')[1]!, 16)
      )
    })
  }
  const steps: readonly (readonly [number[], string[]])[] = [
    [
      [1, 2, 3],
      ['a', 'b', 'c'],
    ],
    [
      [3, 2, 1],
      ['c', 'b', 'a'],
    ],
    [
      [1, 2, 3, 4],
      ['a', 'b', 'c', 'd'],
    ],
    [
      [1, 2, 3, 4],
      ['a', 'B', 'c', 'd'],
    ],
    [
      [2, 3, 4],
      ['B', 'c', 'd'],
    ],
    [[9], ['z']],
    [[], []],
    [[9], ['z']],
  ]

  test('version 3 writes changes, or all instances if that is shorter or a name changed', () => {
    expect(types(3, steps)).toEqual([5, false, 6, 5, 6, 5, false, false])
  })

  test('version 2 writes all instances after any change', () => {
    expect(types(2, steps)).toEqual([2, false, 2, 2, 2, 2, false, false])
  })

  test('a delta merges deleted and added instances by id', () => {
    const { writer, hex } = newArchive()
    writer.instances(at(1), INDOM, [1, 2, 5], ['a', 'b', 'e'])
    const size = writer.metaBytes
    writer.instances(at(2, 7), INDOM, [1, 3, 5], ['a', 'c', 'e'])
    expect(hex('meta', size)).toBe(
      words(
        '00000032 00000006 00000002 00000000 00000007 0a000007 00000002 00000002 00000003 ffffffff 00000000 63000000 0032',
      ),
    )
  })

  test('knows which instances were written', () => {
    const { writer } = newArchive()
    expect(writer.knowsInstance(INDOM)).toBe(false)
    writer.instances(at(1), INDOM, [1, 5], ['a', 'e'])
    expect([
      writer.knowsInstance(INDOM),
      writer.knowsInstance(INDOM, 5),
      writer.knowsInstance(INDOM, 2),
    ]).toEqual([true, true, false])
  })
})

describe('index', () => {
  /** Entries as [seconds, volume, offset in the metadata, offset in the volume]. */
  test('has entries for the start of each volume, of records with a new domain, and of the last', () => {
    const { writer, hex } = newArchive({ version: 2 })
    const set = [emptySet(PMID)]
    const length = 28
    writer.instances(at(1), INDOM, [1], ['a'])
    writer.result(at(1), set)
    writer.result(at(2), set)
    const before = writer.metaBytes
    writer.instances(at(3), INDOM, [2], ['b'])
    writer.result(at(3), set)
    const meta = writer.metaBytes
    expect(writer.switchVolume(at(4))).toBe(1)
    writer.result(at(4), set)
    writer.result(at(5), set)
    writer.close()
    expect(entries(hex('index', 132))).toEqual([
      [1, 0, 132, 132],
      [3, 0, before, 132 + 2 * length],
      [4, 1, meta, 132],
      [5, 1, meta, 132 + length],
    ])
  })

  test('has an entry about every 100,000 bytes and one per time', () => {
    const { writer, hex } = newArchive({ version: 2 })
    const set = [makeSingular(PMID, PM_TYPE_STRING, 'x'.repeat(40_000))]
    for (let i = 0; i < 6; i++) writer.result(at(i), set)
    writer.result(at(5), set)
    writer.close()
    // The first entry postpones the next to after 140,176 bytes, that one by another 100,000.
    expect(entries(hex('index', 132)).map(([sec]) => sec)).toEqual([0, 3, 5])
  })

  test('may have entries at even distances, regardless of the first one', () => {
    const { writer, hex } = newArchive({ version: 2, hasEvenIndex: true })
    const set = [makeSingular(PMID, PM_TYPE_STRING, 'x'.repeat(40_000))]
    for (let i = 0; i < 6; i++) writer.result(at(i), set)
    writer.close()
    expect(entries(hex('index', 132)).map(([sec]) => sec)).toEqual([0, 2, 5])
  })
})

describe('volumes', () => {
  test('of which the last is empty end the index with the record before it', () => {
    const { writer, hex } = newArchive({ version: 2 })
    for (let i = 1; i <= 2; i++) writer.result(at(i), [emptySet(PMID)])
    writer.switchVolume(at(3))
    writer.close()
    expect(entries(hex('index', 132)).map(([sec, volume, , offset]) => [sec, volume, offset])).toEqual([
      [1, 0, 132],
      [2, 0, 160],
    ])
  })

  test('end before the record that would exceed the limit', () => {
    const volumes: number[] = []
    const { writer, size } = newArchive({
      maxVolumeBytes: 808 + 80,
      onVolume: (volume) => volumes.push(volume),
    })
    for (let i = 0; i < 5; i++) writer.result(at(i), [emptySet(PMID)])
    expect(volumes).toEqual([1, 2])
    expect([size('0'), size('1'), size('2')]).toEqual([872, 872, 840])
    expect(writer.dataBytes).toBe(872 + 872 + 840)
  })

  test('also end there without a listener', () => {
    const { writer, size } = newArchive({ maxVolumeBytes: 808 + 80 })
    for (let i = 0; i < 5; i++) writer.result(at(i), [emptySet(PMID)])
    expect([size('0'), size('1'), size('2')]).toEqual([872, 872, 840])
  })

  test('may begin with any number', () => {
    const { writer, size } = newArchive({ firstVolume: 5 })
    writer.result(at(1), [emptySet(PMID)])
    expect(size('5')).toBe(840)
  })
})

describe('a write that fails', () => {
  /** An archive whose next write to a file can be made to fail, as on a full disk. */
  function onFullDisk(): { writer: ArchiveWriter; output: MemoryOutput; fail(part: string): void } {
    const output = memoryOutput('t')
    let failing: string | undefined
    const files: OutputFiles = {
      ...output,
      create(part) {
        const sink = output.create(part)
        const write = sink.write.bind(sink)
        sink.write = (bytes) => {
          if (part !== failing) return write(bytes)
          failing = undefined
          throw Object.assign(new Error('full'), { code: 'ENOSPC' })
        }
        return sink
      },
    }
    const writer = ArchiveWriter.create(files, { hostname: 'h', timezone: 'UTC', pid: 7 })
    return {
      writer,
      output,
      fail(part) {
        failing = part
      },
    }
  }
  const full = expect.objectContaining({ code: 'ENOSPC' })

  test('leaves an instance domain to be written later', () => {
    const { writer, output, fail } = onFullDisk()
    writer.instances(at(1), INDOM, [1], ['a'])
    const size = output.contents().get('meta')!.length
    fail('meta')
    expect(() => writer.instances(at(2), INDOM, [1, 2], ['a', 'b'])).toThrow(full)
    expect(writer.knowsInstance(INDOM, 2)).toBe(false)
    expect(writer.instances(at(3), INDOM, [1, 2], ['a', 'b'])).toBe(true)
    expect(toHex(output.contents().get('meta')!.subarray(size)).split(' ')[1]).toBe('00000006')
  })

  test('keeps the previous volume, and no other', () => {
    const { writer, output, fail } = onFullDisk()
    writer.result(at(1), [emptySet(PMID)])
    fail('1')
    expect(() => writer.switchVolume(at(2))).toThrow(full)
    expect([writer.volume, [...output.contents().keys()]]).toEqual([0, ['index', 'meta', '0']])
    writer.result(at(3), [emptySet(PMID)])
    expect(output.contents().get('0')?.length).toBe(808 + 2 * 32)
    expect(writer.switchVolume(at(4))).toBe(1)
  })
})

describe('an archive', () => {
  test('is empty until its start is known, then starts with the queued metadata', () => {
    const { writer, size, hex } = newArchive()
    writer.text({ kind: 'metric', id: PMID, level: 'oneline' }, '')
    expect([size('index'), size('meta'), size('0')]).toEqual([0, 0, 0])
    writer.result(at(1), [emptySet(PMID)])
    expect([size('index'), size('meta'), size('0')]).toEqual([808 + 32, 808 + 21, 840])
    expect(hex('meta', 808)).toBe('00000015 00000004 00000005 0a000401 00000000 15')
  })

  test('without a record leaves no files', () => {
    const { writer, size } = newArchive()
    writer.mark()
    writer.close()
    expect([size('index'), size('meta'), size('0')]).toEqual([undefined, undefined, undefined])
  })

  test('never overwrites another, and then leaves no files', () => {
    const output = memoryOutput('t')
    output.create('meta')
    expect(() => ArchiveWriter.create(output, { hostname: 'h', timezone: 'UTC', pid: 7 })).toThrow(
      expect.objectContaining({ code: 'EEXIST' }),
    )
    expect([...output.contents().keys()]).toEqual(['meta'])
  })

  test('of version 2 rejects times beyond its range', () => {
    const { writer } = newArchive({ version: 2 })
    expect(() => writer.result(at(2 ** 31), [emptySet(PMID)])).toThrow(PcpError)
  })

  test('labels are written again only when they changed', () => {
    const { writer } = newArchive()
    const sets = (value: number) => [makeLabelSet({ a: value }, 32, { inst: 1 })]
    expect([1, 1, 2].map((value, i) => writer.labels(at(i), 32, INDOM, sets(value)))).toEqual([
      true,
      false,
      true,
    ])
  })

  test('writers may share a buffer', () => {
    const buffer = new RecordBuffer()
    const [a, b] = [newArchive({ buffer }), newArchive({ buffer })]
    a.writer.result(at(1), [emptySet(PMID)])
    b.writer.result(at(2), [emptySet(PMID)])
    expect(a.hex('0', 808)).not.toBe(b.hex('0', 808))
  })
})
