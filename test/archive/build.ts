/** Builds archives byte by byte, without the code under test. Timestamps are seconds, with nanoseconds as fraction. */
import type { ArchiveFiles, ByteSource } from '../../src/base/byte-source.ts'

export type Version = 2 | 3

/** A value set: `values` is an error, or pairs of instance and value. */
export interface TestSet {
  readonly pmid: number
  readonly values: number | readonly (readonly [number, number | bigint | string | Uint8Array])[]
  /** PM_TYPE_*; 0 and 1 are stored in situ. Default 0. */
  readonly type?: number
}

export const ascii = (text: string): Uint8Array => new TextEncoder().encode(text)

export function i32(...numbers: number[]): Uint8Array {
  const bytes = new Uint8Array(4 * numbers.length)
  const view = new DataView(bytes.buffer)
  for (const [i, number] of numbers.entries()) view.setInt32(4 * i, number)
  return bytes
}

export function i64(number: bigint): Uint8Array {
  const bytes = new Uint8Array(8)
  new DataView(bytes.buffer).setBigInt64(0, number)
  return bytes
}

export function f64(number: number): Uint8Array {
  const bytes = new Uint8Array(8)
  new DataView(bytes.buffer).setFloat64(0, number)
  return bytes
}

export function concat(...parts: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0))
  let at = 0
  for (const part of parts) {
    bytes.set(part, at)
    at += part.length
  }
  return bytes
}

/** Adds both lengths to a payload. */
export function frame(...parts: readonly Uint8Array[]): Uint8Array {
  const length = 8 + parts.reduce((sum, part) => sum + part.length, 0)
  return concat(i32(length), ...parts, i32(length))
}

export function stamp(version: Version, time: number): Uint8Array {
  const sec = Math.floor(time)
  const nsec = Math.round((time - sec) * 1e9)
  if (version === 2) return i32(sec, Math.floor(nsec / 1000))
  return i32(sec | 0, Math.floor(sec / 2 ** 32), nsec)
}

export interface TestLabel {
  readonly version?: Version
  readonly start?: number
  readonly volume?: number
  readonly host?: string
  readonly pid?: number
  readonly features?: number
}

export function label({
  version = 3,
  start = 0,
  volume = 0,
  host = 'here',
  pid = 42,
  features = 0,
}: TestLabel): Uint8Array {
  const field = (text: string, width: number): Uint8Array => {
    const bytes = new Uint8Array(width)
    bytes.set(ascii(text))
    return bytes
  }
  const head = concat(i32(0x50052600 | version, pid), stamp(version, start), i32(volume))
  if (version === 2) return frame(head, field(host, 64), field('UTC', 40))
  return frame(head, i32(features, 0), field(host, 256), field('UTC', 256), field(':Etc/UTC', 256))
}

export interface TestDesc {
  readonly pmid: number
  readonly type?: number
  readonly indom?: number
  readonly sem?: number
  readonly units?: number
}

export function desc(
  { pmid, type = 0, indom = -1, sem = 3, units = 0 }: TestDesc,
  ...names: string[]
): Uint8Array {
  const texts = names.map((name) => concat(i32(ascii(name).length), ascii(name)))
  return frame(i32(1, pmid, type, indom, sem, units, names.length), ...texts)
}

/** Encodes an instance domain; undefined names are deleted instances (delta). */
export function indom(
  version: Version,
  time: number,
  id: number,
  instances: readonly (readonly [number, string | undefined])[],
  isDelta = false,
): Uint8Array {
  let used = 0
  const offsets: number[] = []
  const names: Uint8Array[] = []
  for (const [, name] of instances) {
    offsets.push(name === undefined ? -1 : used)
    if (name === undefined) continue
    names.push(ascii(`${name}\0`))
    used += ascii(name).length + 1
  }
  return frame(
    i32(isDelta ? 6 : version === 2 ? 2 : 5),
    stamp(version, time),
    i32(id, instances.length, ...instances.map(([inst]) => inst), ...offsets),
    ...names,
  )
}

/** Encodes label sets: for each the instance and its labels. */
export function labels(
  version: Version,
  time: number,
  level: number,
  id: number,
  sets: readonly (readonly [number, Readonly<Record<string, string>>])[],
): Uint8Array {
  const encoded = sets.map(([inst, entries]) => {
    let json = '{'
    const places: Uint8Array[] = []
    for (const [name, value] of Object.entries(entries)) {
      if (json !== '{') json += ','
      const nameAt = json.length + 1
      json += `"${name}":`
      places.push(new Uint8Array([nameAt >> 8, nameAt, name.length, level, json.length >> 8, json.length]))
      json += `"${value}"`
      places.push(new Uint8Array([0, value.length + 2]))
    }
    json += '}'
    return concat(i32(inst, json.length), ascii(json), i32(places.length / 2), ...places)
  })
  return frame(i32(version === 2 ? 3 : 7), stamp(version, time), i32(level, id, sets.length), ...encoded)
}

/** Encodes a help text; `what` is 1 or 2 (one line, full) and 4 or 8 (metric, domain). */
export function text(what: number, id: number, content: string): Uint8Array {
  return frame(i32(4, what, id), ascii(`${content}\0`))
}

function block(type: number, value: number | bigint | string | Uint8Array): Uint8Array {
  const data =
    typeof value === 'string'
      ? ascii(`${value}\0`)
      : value instanceof Uint8Array
        ? value
        : typeof value === 'bigint'
          ? i64(value)
          : f64(value)
  const padding = new Uint8Array(-data.length & 3).fill(0x7e)
  return concat(i32((type << 24) | (data.length + 4)), data, padding)
}

/** Encodes values. */
export function result(version: Version, time: number, ...sets: readonly TestSet[]): Uint8Array {
  const head = version === 2 ? 16 : 20
  const isInSitu = ({ type = 0 }: TestSet): boolean => type < 2
  let at = head
  for (const { values } of sets)
    at += typeof values === 'number' ? 8 : values.length === 0 ? 8 : 12 + 8 * values.length
  const heads: Uint8Array[] = []
  const blocks: Uint8Array[] = []
  for (const set of sets) {
    const { pmid, values, type = 0 } = set
    if (typeof values === 'number' || values.length === 0) {
      heads.push(i32(pmid, typeof values === 'number' ? values : 0))
      continue
    }
    heads.push(i32(pmid, values.length, isInSitu(set) ? 0 : 1))
    for (const [inst, value] of values) {
      if (isInSitu(set)) {
        heads.push(i32(inst, value as number))
        continue
      }
      const one = block(type, value)
      heads.push(i32(inst, at / 4 + 2))
      blocks.push(one)
      at += one.length
    }
  }
  return frame(stamp(version, time), i32(sets.length), ...heads, ...blocks)
}

/** Encodes a mark. */
export function mark(version: Version, time: number): Uint8Array {
  return result(version, time)
}

/** Encodes an index entry. */
export function entry(
  version: Version,
  time: number,
  volume: number,
  meta: number,
  offset: number,
): Uint8Array {
  const tail = version === 2 ? i32(meta, offset) : concat(i64(BigInt(meta)), i64(BigInt(offset)))
  return concat(stamp(version, time), i32(volume), tail)
}

export interface TestArchive extends TestLabel {
  readonly meta?: readonly Uint8Array[]
  /** Records of each volume. */
  readonly volumes?: readonly (readonly Uint8Array[])[]
  /** Number of the first volume. */
  readonly first?: number
  readonly index?: readonly Uint8Array[] | 'none'
}

/** Makes the files of one archive, by path. */
export function archive(base: string, options: TestArchive = {}): Record<string, Uint8Array> {
  const { meta = [desc({ pmid: 1 }, 'a.metric')], volumes = [[]], first = 0, index = 'none' } = options
  const files: Record<string, Uint8Array> = {
    [`${base}.meta`]: concat(label({ ...options, volume: -1 }), ...meta),
  }
  for (const [i, records] of volumes.entries())
    files[`${base}.${first + i}`] = concat(label({ ...options, volume: first + i }), ...records)
  if (index !== 'none') files[`${base}.index`] = concat(label({ ...options, volume: -2 }), ...index)
  return files
}

/** Files in memory that are read in pieces like files on disk, and that may grow. */
export function memoryFiles(
  files: Record<string, Uint8Array>,
): ArchiveFiles & { opened: string[]; closed: string[] } {
  const opened: string[] = []
  const closed: string[] = []
  const missing = (path: string): Error => Object.assign(new Error(`ENOENT: ${path}`), { code: 'ENOENT' })
  return {
    opened,
    closed,
    isDirectory: (path) => Object.keys(files).some((file) => file.startsWith(`${path}/`)),
    list(directory) {
      const prefix = directory === '.' ? '' : `${directory}/`
      const names = Object.keys(files).filter((file) => file.startsWith(prefix))
      if (names.length === 0 && prefix !== '') throw missing(directory)
      return names.map((file) => file.slice(prefix.length)).filter((name) => !name.includes('/'))
    },
    open(path): ByteSource {
      if (files[path] === undefined) throw missing(path)
      opened.push(path)
      return {
        bytes: undefined,
        get size() {
          return files[path]!.length
        },
        readInto(target, offset) {
          const part = files[path]!.subarray(offset, offset + target.length)
          target.set(part)
          return part.length
        },
        close: () => void closed.push(path),
      }
    },
  }
}
