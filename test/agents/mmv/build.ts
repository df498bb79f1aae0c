/** Builds a file of memory-mapped values of version 1 or 2, apart from the code under test: two metrics and three texts. */

const TOC = 40
const SECTIONS = 5

export interface BuildOptions {
  readonly version: 1 | 2
  readonly generation?: bigint
  readonly flags?: number
  readonly pid?: number
  readonly cluster?: number
  /** Type and 64 bits of the metric without instances. */
  readonly level: { readonly type: number; readonly bits: bigint; readonly extra?: bigint }
  /** Counts of the instances `red` (1) and `green` (2). */
  readonly counts: readonly [number, number]
}

/** Metrics `level` (item 7, one line `Depth`) and `count` (item 8, indom 3, no text). */
export function buildMmv(options: BuildOptions): Buffer {
  const { version, generation = 99n, flags = 0, pid = process.pid, cluster = 5 } = options
  const [instanceSize, metricSize] = version === 1 ? [80, 104] : [24, 48]
  const indoms = TOC + SECTIONS * 16
  const instances = indoms + 32
  const metrics = instances + 2 * instanceSize
  const values = metrics + 2 * metricSize
  const strings = values + 3 * 32
  const file = Buffer.alloc(strings + 6 * 256)
  file.write('MMV\0')
  file.writeUInt32LE(version, 4)
  file.writeBigUInt64LE(generation, 8)
  file.writeBigUInt64LE(generation, 16)
  for (const [i, word] of [SECTIONS, flags, pid, cluster].entries()) file.writeUInt32LE(word, 24 + i * 4)
  const sections = [
    [1, 1, indoms],
    [2, 2, instances],
    [3, 2, metrics],
    [4, 3, values],
    [5, 6, strings],
  ] as const
  for (const [i, [type, count, offset]] of sections.entries()) {
    file.writeUInt32LE(type, TOC + i * 16)
    file.writeUInt32LE(count, TOC + i * 16 + 4)
    file.writeBigUInt64LE(BigInt(offset), TOC + i * 16 + 8)
  }
  const texts = ['Depth', 'level', 'count', 'red', 'green', 'deep']
  for (const [i, text] of texts.entries()) file.write(text, strings + i * 256)
  const string = (i: number): bigint => BigInt(strings + i * 256)
  const name = (at: number, i: number): void => {
    if (version === 1) file.write(texts[i]!, at)
    else file.writeBigUInt64LE(string(i), at)
  }
  file.writeUInt32LE(3, indoms)
  file.writeUInt32LE(2, indoms + 4)
  file.writeBigUInt64LE(BigInt(instances), indoms + 8)
  for (const i of [0, 1]) {
    const at = instances + i * instanceSize
    file.writeBigUInt64LE(BigInt(indoms), at)
    file.writeInt32LE(i + 1, at + 12)
    name(at + 16, 3 + i)
  }
  const metric = (i: number, words: readonly number[]): void => {
    const at = metrics + i * metricSize
    name(at, 1 + i)
    for (const [k, word] of words.entries()) file.writeUInt32LE(word, at + (version === 1 ? 64 : 8) + k * 4)
  }
  metric(0, [7, options.level.type, 3, 0x10010000, 0xffffffff])
  file.writeBigUInt64LE(string(0), metrics + (version === 1 ? 88 : 32))
  metric(1, [8, 1, 1, 0x00100000, 3])
  const value = (i: number, bits: bigint, of: number, instance: number, extra = 0n): void => {
    const at = values + i * 32
    file.writeBigUInt64LE(BigInt.asUintN(64, bits), at)
    file.writeBigInt64LE(extra, at + 8)
    file.writeBigUInt64LE(BigInt(metrics + of * metricSize), at + 16)
    file.writeBigUInt64LE(BigInt(instance), at + 24)
  }
  const { level, counts } = options
  value(0, level.bits, 0, 0, level.type === 6 ? string(5) : level.extra)
  value(1, BigInt(counts[0]), 1, instances)
  value(2, BigInt(counts[1]), 1, instances + instanceSize)
  return file
}
