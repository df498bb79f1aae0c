/** kernel.all.pressure: time lost waiting for CPU, memory, disks and interrupts. /proc/pressure, Documentation/accounting/psi.rst of the kernel */
import type { Scanner } from '../../base/scan.ts'
import { PcpError } from '../../model/errors.ts'
import type { IndomSpec } from '../../pmda/define.ts'
import { Reading } from '../../pmda/reading.ts'
import type { PlacedRow } from '../lib/name-order.ts'
import type { LinuxContext } from './context.ts'
import { orNothing } from './sample.ts'

/** One line: percentages over 10, 60 and 300 seconds, and microseconds since boot. */
export interface Stall {
  readonly averages: readonly number[]
  readonly total: number
}

/** A file of /proc/pressure: the lines it has. */
export type Pressure = { readonly [line in 'some' | 'full']?: Stall }

/** `some avg10=0.00 avg60=0.00 avg300=0.00 total=0`, and the like for `full`. */
export function parsePressure(scan: Scanner): Pressure {
  const lines: { some?: Stall; full?: Stall } = {}
  do {
    const name = scan.word()
    if (name !== 'some' && name !== 'full') continue
    const averages = ['avg10', 'avg60', 'avg300'].map(() => {
      scan.until('=')
      return scan.decimal()
    })
    scan.until('=')
    lines[name] = { averages, total: scan.uint() }
  } while (scan.nextLine())
  return lines
}

const SPANS = [10, 60, 300]

type Row = readonly [
  resource: string,
  cluster: number,
  lines: readonly ('some' | 'full')[],
  waited: string,
  text?: string,
]

const ROWS: readonly Row[] = [
  ['cpu', 83, ['some'], 'for a CPU to run on'],
  [
    'memory',
    84,
    ['some', 'full'],
    'for memory',
    'Counts reclaim, swapping in, and reading back pages that were just evicted.',
  ],
  ['io', 85, ['some', 'full'], 'for disk requests to complete'],
  ['irq', 93, ['full'], 'because interrupts held their CPU'],
]

/** All of kernel.all.pressure. A kernel without such a file gives no values. */
export function pressureMetrics(ctx: LinuxContext): { [name: string]: PlacedRow } {
  const indom: IndomSpec = {
    serial: 37,
    instances: { '10 second': 10, '1 minute': 60, '5 minute': 300 },
    help: 'The spans of time that pressure averages cover',
    text: 'The instance number is the span in seconds: 10, 60 and 300.',
  }
  const metrics: { [name: string]: PlacedRow } = {}
  for (const [resource, cluster, lines, waited, text] of ROWS) {
    const path = `/proc/pressure/${resource}`
    const reading = new Reading(() => readPressure(ctx, path))
    for (const [i, line] of lines.entries()) {
      const who = line === 'some' ? 'at least one task waited' : 'all tasks that were not idle waited at once'
      const needs = `The ${line} line of ${path}, which needs a kernel built with PSI and not started with psi=0.`
      const from = text === undefined ? needs : `${needs} ${text}`
      metrics[`kernel.all.pressure.${resource}.${line}.avg`] = {
        cluster,
        item: i * 2,
        type: 'float',
        sem: 'instant',
        units: 'none',
        indom,
        help: `Percentage of time in which ${who} ${waited}`,
        text: `${from} Averages over 10 seconds, 1 minute and 5 minutes.`,
        reading,
        value: (inst) => orNothing(reading.value[line]?.averages[SPANS.indexOf(inst)]),
      }
      metrics[`kernel.all.pressure.${resource}.${line}.total`] = {
        cluster,
        item: i * 2 + 1,
        type: 'u64',
        sem: 'counter',
        units: 'microsec',
        help: `Time in which ${who} ${waited}, since boot`,
        text: `${from} Its rate is the share of time lost: 1000000 microseconds a second is standstill.`,
        reading,
        value: () => orNothing(reading.value[line]?.total),
      }
    }
  }
  return metrics
}

function readPressure(ctx: LinuxContext, path: string): Pressure {
  try {
    return parsePressure(ctx.file(path).scan())
  } catch (error) {
    const code = PcpError.from(error).code
    // EOPNOTSUPP: built in but switched off. Either way this kernel does not measure: no values, no failure
    if (code === 'ENOENT' || code === 'ENOTSUP') return {}
    throw error
  }
}
