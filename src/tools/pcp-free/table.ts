/** The table of pcp free: use of memory. pcp-free(1) */
import type { Sample } from '../lib/sampled/metrics.ts'

/** Options of the table. */
export interface TableOptions {
  /** How many times to divide kilobytes by 1024; -1 for bytes. */
  readonly shift: number
  readonly hasBuffersLine: boolean
  readonly hasLowAndHigh: boolean
  readonly hasTotal: boolean
  readonly isWide: boolean
}

const TOTAL = 'mem.physmem'
const util = (name: string): string => `mem.util.${name}`

/** Metrics of the table, in the order in which PCP reports missing ones. */
const NAMES: readonly string[] = [
  TOTAL,
  ...['free', 'shmem', 'bufmem', 'cached', 'highFree', 'highTotal', 'lowFree', 'lowTotal'].map(util),
  ...['swapFree', 'swapTotal', 'available', 'slabReclaimable'].map(util),
]
/** Required metrics. */
export const REQUIRED: readonly string[] = [
  TOTAL,
  ...['free', 'bufmem', 'cached', 'swapFree', 'swapTotal'].map(util),
]
/** Metrics that show where an archive's memory values begin. */
export const LEADING: readonly string[] = [util('free')]
/** Metrics of the table, in kilobytes. */
export const METRICS: readonly { readonly name: string; readonly units: string }[] = NAMES.map((name) => ({
  name,
  units: 'Kbyte',
}))

/** Kilobytes; undefined if unknown. */
type Kilobytes = number | undefined

/** Formats the table of a sample. */
export function memoryText(sample: Sample, options: TableOptions): string {
  const get = (name: string): Kilobytes => sample.number(name)
  const total = get(TOTAL)
  const free = get(util('free'))
  const buffers = get(util('bufmem'))
  // Kernels before 2.6.19 do not report reclaimable slabs separately.
  const cache = plus(get(util('cached')), get(util('slabReclaimable')) ?? 0)
  const both = plus(buffers, cache)
  const used = minus(minus(total, free), both)
  const swapTotal = get(util('swapTotal'))
  const swapFree = get(util('swapFree'))
  const swapUsed = minus(swapTotal, swapFree)
  const cached = options.isWide ? [buffers, cache] : [both]
  const row = (label: string, values: readonly Kilobytes[]): string => line(label, values, options.shift)
  return [
    heading(options.isWide),
    row('Mem:', [total, used, free, get(util('shmem')), ...cached, get(util('available'))]),
    ...(options.hasLowAndHigh ? lowAndHigh(get, row, total, free) : []),
    ...(options.hasBuffersLine ? [buffersLine(used, minus(total, used), options.shift)] : []),
    row('Swap', [swapTotal, swapUsed, swapFree]),
    ...(options.hasTotal
      ? [row('Total', [plus(total, swapTotal), plus(used, swapUsed), plus(free, swapFree)])]
      : []),
  ].join('')
}

/** Kernels without high memory do not report it, as all memory is low memory. */
function lowAndHigh(
  get: (name: string) => Kilobytes,
  row: (label: string, values: readonly Kilobytes[]) => string,
  total: Kilobytes,
  free: Kilobytes,
): readonly string[] {
  const low = get(util('lowTotal')) ?? 0
  const [lowTotal, lowFree] = low === 0 ? [total, free] : [low, get(util('lowFree'))]
  const highTotal = get(util('highTotal')) ?? 0
  const highFree = get(util('highFree')) ?? 0
  return [
    row('Low:', [lowTotal, minus(lowTotal, lowFree), lowFree]),
    row('High:', [highTotal, highTotal - highFree, highFree]),
  ]
}

const FIRST_COLUMN = 19
const COLUMN = 11
const LABEL = 7

function heading(isWide: boolean): string {
  const [first, ...others] = [
    'total',
    'used',
    'free',
    'shared',
    ...(isWide ? ['buffers', 'cache'] : ['buff/cache']),
    'available',
  ]
  return `${first!.padStart(FIRST_COLUMN)}${others.map((word) => ` ${word.padStart(COLUMN)}`).join('')}\n`
}

function line(label: string, values: readonly Kilobytes[], shift: number): string {
  return `${label.padEnd(LABEL)}${values.map((value) => ` ${cell(value, shift)}`).join('')}\n`
}

function buffersLine(used: Kilobytes, free: Kilobytes, shift: number): string {
  return `-/+ buffers/cache:  ${cell(used, shift)} ${cell(free, shift)}\n`
}

function cell(value: Kilobytes, shift: number): string {
  const text = value === undefined ? '?' : String(Math.trunc(value / 1024 ** shift))
  return text.padStart(COLUMN)
}

function plus(a: Kilobytes, b: Kilobytes): Kilobytes {
  return a === undefined || b === undefined ? undefined : a + b
}

function minus(a: Kilobytes, b: Kilobytes): Kilobytes {
  return a === undefined || b === undefined ? undefined : a - b
}
