/**
 * Layout of MMV (memory-mapped values) files, versions 1 to 3, which an application writes and updates in place. Integers
 * have the byte order of the host. docs/formats/mmv.md
 */
import { decodeText } from '../base/text.ts'
import { PcpError } from '../model/errors.ts'

/** Byte order of this host. */
export const IS_LITTLE: boolean = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1
/** Names are not prefixed with the file name. */
export const MMV_FLAG_NOPREFIX = 1
/** The file is valid only while the process that wrote it is running. */
export const MMV_FLAG_PROCESS = 2
/** NaN, all bits set and the empty string mean no value. */
export const MMV_FLAG_SENTINEL = 4
/** Microseconds, growing while a section is timed: a 64-bit counter to clients. */
export const MMV_TYPE_ELAPSED = 9
/** Bytes of the header. */
export const HEADER_SIZE = 40

/** Bytes of an entry of the table of contents. */
export const TOC_SIZE = 16
/** Bytes of a text or label record; the text ends with a NUL. */
export const STRING_SIZE = 256
/** Bytes of the JSON text in a label record. */
export const LABEL_TEXT_SIZE = 244
/** Bytes of a name in version 1; the name ends with a NUL. */
export const NAME_SIZE = 64
/** Most label records that readers accept in one file. */
export const MAX_LABELS = 255
/** Bytes of an instance domain. */
export const INDOM_SIZE = 32
/** Bytes of an instance, by version. */
export const INSTANCE_SIZES = { 1: 80, 2: 24, 3: 24 } as const
/** Bytes of a metric, by version. */
export const METRIC_SIZES = { 1: 104, 2: 48, 3: 48 } as const
/** Bytes of a value. */
export const VALUE_SIZE = 32

/** Section of instance domains. */
export const TOC_INDOMS = 1
/** Section of instances. */
export const TOC_INSTANCES = 2
/** Section of metrics. */
export const TOC_METRICS = 3
/** Section of values. */
export const TOC_VALUES = 4
/** Section of texts. */
export const TOC_STRINGS = 5
/** Section of labels. */
export const TOC_LABELS = 6

/** The header of a file. */
export interface MmvHeader {
  readonly version: 1 | 2 | 3
  /** Time stamp of the layout; 0 while it is written. */
  readonly generation: bigint
  /** The layout is complete. */
  readonly isStable: boolean
  readonly sections: number
  /** MMV_FLAG_*. */
  readonly flags: number
  readonly pid: number
  /** Requested cluster of the metrics; 0 for any. */
  readonly cluster: number
}

/** Texts; absent where the file has none. */
export interface MmvTexts {
  readonly oneline?: string
  readonly help?: string
}

/** An instance domain, or a part of one that several files define. */
export interface MmvIndom {
  readonly serial: number
  readonly ids: readonly number[]
  readonly names: readonly string[]
  readonly texts: MmvTexts
}

/** A metric. */
export interface MmvMetric {
  readonly name: string
  readonly item: number
  /** PM_TYPE_*, or MMV_TYPE_ELAPSED. */
  readonly type: number
  readonly sem: number
  /** A units word. */
  readonly units: number
  /** Serial of its instance domain; undefined for a metric with one value. */
  readonly indom: number | undefined
  readonly texts: MmvTexts
  /** Offset of each instance's value; key -1 for a metric with one value. */
  readonly values: ReadonlyMap<number, number>
}

/** A label record. */
export interface MmvLabel {
  /** LABEL_CLUSTER, LABEL_INDOM, LABEL_ITEM or LABEL_INSTANCES; LABEL_OPTIONAL may be added. */
  readonly flags: number
  /** Cluster, serial or item. */
  readonly id: number
  readonly inst: number
  /** `{"name":value}`. */
  readonly json: string
}

/** Layout of a file. */
export interface MmvLayout {
  readonly header: MmvHeader
  readonly indoms: readonly MmvIndom[]
  readonly metrics: readonly MmvMetric[]
  readonly labels: readonly MmvLabel[]
}

/** Parses a header. EINVAL if it is not one. */
export function parseHeader(bytes: Uint8Array): MmvHeader {
  if (bytes.length < HEADER_SIZE || decodeText(bytes, 0, 4) !== 'MMV\0')
    throw new PcpError('EINVAL', 'Not a file of memory-mapped values: it does not begin with MMV')
  const view = viewOf(bytes)
  const version = view.getUint32(4, IS_LITTLE)
  if (version !== 1 && version !== 2 && version !== 3)
    throw new PcpError('EINVAL', `Version ${version} of memory-mapped values is not supported (1 to 3 are)`)
  const generation = view.getBigUint64(8, IS_LITTLE)
  return {
    version,
    generation,
    isStable: generation !== 0n && generation === view.getBigUint64(16, IS_LITTLE),
    sections: view.getUint32(24, IS_LITTLE),
    flags: view.getUint32(28, IS_LITTLE),
    pid: view.getInt32(32, IS_LITTLE),
    cluster: view.getUint32(36, IS_LITTLE),
  }
}

/** Parses the layout of a file. EINVAL names the offset of a mistake. */
export function parseMmv(bytes: Uint8Array): MmvLayout {
  return new Parser(bytes).layout()
}

/** A section: records of one kind. */
interface Section {
  readonly type: number
  readonly count: number
  readonly offset: number
}

class Parser {
  readonly #bytes: Uint8Array
  readonly #view: DataView
  readonly #header: MmvHeader
  /** Bytes left for records: they do not overlap, so together they cannot exceed the file. */
  #left: number

  constructor(bytes: Uint8Array) {
    this.#header = parseHeader(bytes)
    this.#left = bytes.length
    this.#bytes = bytes
    this.#view = viewOf(bytes)
  }

  layout(): MmvLayout {
    const sections = this.#sections()
    const each = <T>(type: number, size: number, read: (at: number) => T, most?: number): T[] =>
      sections
        .filter((section) => section.type === type)
        .flatMap((one) => this.#records(one, size, read, most))
    const values = new Map<number, Map<number, number>>()
    each(TOC_VALUES, VALUE_SIZE, (at) => this.#value(at, values))
    return {
      header: this.#header,
      indoms: each(TOC_INDOMS, INDOM_SIZE, (at) => this.#indom(at)),
      metrics: each(TOC_METRICS, METRIC_SIZES[this.#header.version], (at) => this.#metric(at, values)),
      labels: each(TOC_LABELS, STRING_SIZE, (at) => this.#label(at), MAX_LABELS),
    }
  }

  #sections(): Section[] {
    const { sections } = this.#header
    this.#claim(HEADER_SIZE, sections, TOC_SIZE)
    return Array.from({ length: sections }, (_, i) => {
      const at = HEADER_SIZE + i * TOC_SIZE
      return { type: this.#u32(at), count: this.#u32(at + 4), offset: this.#offset(at + 8) }
    })
  }

  #records<T>({ count, offset }: Section, size: number, read: (at: number) => T, most = count): T[] {
    this.#claim(offset, count, size)
    return Array.from({ length: Math.min(count, most) }, (_, i) => read(offset + i * size))
  }

  #indom(at: number): MmvIndom {
    const count = this.#u32(at + 4)
    const offset = this.#offset(at + 8)
    const size = INSTANCE_SIZES[this.#header.version]
    this.#claim(offset, count, size)
    const records = Array.from({ length: count }, (_, i) => offset + i * size)
    return {
      serial: this.#u32(at),
      ids: records.map((record) => this.#view.getInt32(record + 12, IS_LITTLE)),
      names: records.map((record) => this.#name(record + 16)),
      texts: this.#texts(at + 16),
    }
  }

  #metric(at: number, values: ReadonlyMap<number, ReadonlyMap<number, number>>): MmvMetric {
    const rest = at + (this.#header.version === 1 ? NAME_SIZE : 8)
    const indom = this.#u32(rest + 16)
    return {
      name: this.#name(at),
      item: this.#u32(rest),
      type: this.#u32(rest + 4),
      sem: this.#u32(rest + 8),
      units: this.#u32(rest + 12),
      indom: indom === 0 || indom === 0xffffffff ? undefined : indom,
      texts: this.#texts(rest + 24),
      values: values.get(at) ?? new Map(),
    }
  }

  /** Records the offset of a value under its metric and instance. */
  #value(at: number, values: Map<number, Map<number, number>>): void {
    const metric = this.#offset(at + 16)
    const instance = this.#offset(at + 24)
    const known = values.get(metric) ?? new Map<number, number>()
    values.set(metric, known)
    if (instance === 0) known.set(-1, at)
    else {
      this.#check(instance, 1, 16)
      known.set(this.#view.getInt32(instance + 12, IS_LITTLE), at)
    }
  }

  #label(at: number): MmvLabel {
    return {
      flags: this.#u32(at),
      id: this.#u32(at + 4),
      inst: this.#view.getInt32(at + 8, IS_LITTLE),
      json: textAt(this.#bytes, at + 12, STRING_SIZE - 12),
    }
  }

  #texts(at: number): MmvTexts {
    const [oneline, help] = [this.#offset(at), this.#offset(at + 8)]
    return {
      ...(oneline === 0 ? {} : { oneline: this.#string(oneline) }),
      ...(help === 0 ? {} : { help: this.#string(help) }),
    }
  }

  /** The name itself in version 1, its offset in later versions. */
  #name(at: number): string {
    return this.#header.version === 1 ? textAt(this.#bytes, at, NAME_SIZE) : this.#string(this.#offset(at))
  }

  #string(at: number): string {
    this.#check(at, 1, STRING_SIZE)
    return textAt(this.#bytes, at, STRING_SIZE)
  }

  #u32(at: number): number {
    return this.#view.getUint32(at, IS_LITTLE)
  }

  #offset(at: number): number {
    return Number(this.#view.getBigUint64(at, IS_LITTLE))
  }

  /** Checks the bounds of records, each read once. */
  #claim(offset: number, count: number, size: number): void {
    this.#check(offset, count, size)
    this.#left -= count * size
    if (this.#left < 0)
      throw new PcpError('EINVAL', `The ${count} records at offset ${offset} overlap others`)
  }

  #check(offset: number, count: number, size: number): void {
    if (offset + count * size > this.#bytes.length)
      throw new PcpError(
        'EINVAL',
        `${count} records of ${size} bytes at offset ${offset} go beyond the end of the file`,
      )
  }
}

/** Returns the text of at most `size` bytes, up to the first NUL. */
export function textAt(bytes: Uint8Array, at: number, size: number): string {
  const limit = Math.min(at + size, bytes.length)
  const nul = bytes.indexOf(0, at)
  return decodeText(bytes, at, nul === -1 || nul > limit ? limit : nul)
}

/** Returns a view of bytes at any offset of their buffer. */
export function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}
