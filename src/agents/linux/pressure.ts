/** kernel.all.pressure: pressure stall information (PSI) of CPU, memory, I/O and interrupts. /proc/pressure, Documentation/accounting/psi.rst of the kernel */
import type { Scanner } from '../../base/scan.ts'
import { PcpError } from '../../model/errors.ts'
import type { IndomSpec } from '../../pmda/define.ts'
import { Reading } from '../../pmda/reading.ts'
import type { OrderedRow } from '../lib/name-order.ts'
import type { LinuxContext } from './context.ts'
import { orUndefined } from './sample.ts'

/** One line: percentages over 10, 60 and 300 seconds, and microseconds since boot. */
export interface PressureLine {
  readonly averages: readonly number[]
  readonly total: number
}

/** A file of /proc/pressure, by line. */
export type Pressure = { readonly [line in 'some' | 'full']?: PressureLine }

/** Parses `some avg10=0.00 avg60=0.00 avg300=0.00 total=0`, and the same for `full`. */
export function parsePressure(scan: Scanner): Pressure {
  const lines: { some?: PressureLine; full?: PressureLine } = {}
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

/** Returns the metrics of kernel.all.pressure. Without the file there are no values. */
export function pressureMetrics(ctx: LinuxContext): { [name: string]: OrderedRow } {
  const indom: IndomSpec = {
    serial: 37,
    instances: { '10 second': 10, '1 minute': 60, '5 minute': 300 },
    help: 'Time spans of pressure averages',
    text: 'The instance identifier is the span in seconds: 10, 60 and 300.',
  }
  const metrics: { [name: string]: OrderedRow } = {}
  for (const [resource, cluster, lines, waited, text] of ROWS) {
    const path = `/proc/pressure/${resource}`
    const reading = new Reading(() => readPressure(ctx, path))
    for (const [i, line] of lines.entries()) {
      const who = line === 'some' ? 'at least one task waited' : 'all non-idle tasks waited simultaneously'
      const needs = `The ${line} line of ${path}, which needs a kernel built with PSI and not started with psi=0.`
      const from = text === undefined ? needs : `${needs} ${text}`
      metrics[`kernel.all.pressure.${resource}.${line}.avg`] = {
        cluster,
        item: i * 2,
        type: 'float',
        sem: 'instant',
        units: 'none',
        indom,
        help: `Percentage of time ${who} ${waited}`,
        text: `${from} Averages over 10 seconds, 1 minute and 5 minutes.`,
        reading,
        value: (inst) => orUndefined(reading.value[line]?.averages[SPANS.indexOf(inst)]),
      }
      metrics[`kernel.all.pressure.${resource}.${line}.total`] = {
        cluster,
        item: i * 2 + 1,
        type: 'u64',
        sem: 'counter',
        units: 'microsec',
        help: `Time ${who} ${waited}, since boot`,
        text: `${from} Its rate is the share of time lost: 1000000 microseconds per second is a complete stall.`,
        reading,
        value: () => orUndefined(reading.value[line]?.total),
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
    // EOPNOTSUPP: supported but disabled at boot. Either way there are no values, without an error
    if (code === 'ENOENT' || code === 'ENOTSUP') return {}
    throw error
  }
}
