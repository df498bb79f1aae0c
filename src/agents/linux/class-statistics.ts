/** tape.dev and fchost: statistics files of tape drives and Fibre Channel adapters. /sys/class */
import type { IndomSpec } from '../../pmda/define.ts'
import { Reading } from '../../pmda/reading.ts'
import { InstanceIds } from '../lib/instance-ids.ts'
import type { OrderedRow } from '../lib/name-order.ts'
import type { LinuxContext } from './context.ts'
import { parseNumber } from './sample.ts'

/** A metric that is one file of each device's statistics directory. */
interface StatisticsRow {
  readonly name: string
  readonly item: number
  readonly file: string
  readonly units: string
  readonly help: string
  readonly text?: string
  readonly isLevel?: boolean
  /** Factor from the kernel's unit to the metric's. */
  readonly times?: number
}

/** A class of devices. */
interface DeviceClass {
  readonly prefix: string
  readonly cluster: number
  readonly serial: number
  /** Directory of the class, pattern of its devices, and subdirectory of their statistics. */
  readonly directory: string
  readonly pattern: RegExp
  readonly statistics: string
  readonly what: string
  readonly hinv: readonly [name: string, item: number, help: string]
  readonly rows: readonly StatisticsRow[]
}

const WORD_BYTES = 4

const CLASSES: readonly DeviceClass[] = [
  {
    prefix: 'tape.dev',
    cluster: 71,
    serial: 34,
    directory: '/sys/class/scsi_tape',
    pattern: /^st\d+$/,
    statistics: 'stats',
    what: "SCSI tape drives by the kernel's name for them",
    hinv: ['hinv.ntape', 16, 'Number of SCSI tape drives'],
    rows: [
      {
        name: 'in_flight',
        item: 0,
        file: 'in_flight',
        units: 'count',
        isLevel: true,
        help: 'Requests in progress',
      },
      {
        name: 'io_ns',
        item: 1,
        file: 'io_ns',
        units: 'nanosec',
        help: 'Time spent waiting for the drive with requests of any kind',
      },
      {
        name: 'other_cnt',
        item: 2,
        file: 'other_cnt',
        units: 'count',
        help: 'Requests that neither read nor write, such as rewinding',
      },
      { name: 'read_byte_cnt', item: 3, file: 'read_byte_cnt', units: 'byte', help: 'Data taken from tapes' },
      { name: 'read_cnt', item: 4, file: 'read_cnt', units: 'count', help: 'Requests that read from a tape' },
      {
        name: 'read_ns',
        item: 5,
        file: 'read_ns',
        units: 'nanosec',
        help: 'Time spent waiting for data from tapes',
      },
      {
        name: 'resid_cnt',
        item: 6,
        file: 'resid_cnt',
        units: 'count',
        help: 'Requests that transferred less data than requested',
      },
      { name: 'write_byte_cnt', item: 7, file: 'write_byte_cnt', units: 'byte', help: 'Data put on tapes' },
      {
        name: 'write_cnt',
        item: 8,
        file: 'write_cnt',
        units: 'count',
        help: 'Requests that wrote to a tape',
      },
      {
        name: 'write_ns',
        item: 9,
        file: 'write_ns',
        units: 'nanosec',
        help: 'Time spent waiting for data to be put on tapes',
      },
    ],
  },
  {
    prefix: 'fchost',
    cluster: 91,
    serial: 39,
    directory: '/sys/class/fc_host',
    pattern: /^host\d+$/,
    statistics: 'statistics',
    what: "Fibre Channel adapters by the kernel's name for them",
    hinv: ['hinv.nfchost', 16, 'Number of Fibre Channel adapters'],
    rows: [
      {
        name: 'lip_count',
        item: 4,
        file: 'lip_count',
        units: 'count',
        help: 'Times a Fibre Channel loop was reinitialised',
      },
      {
        name: 'nos_count',
        item: 5,
        file: 'nos_count',
        units: 'count',
        help: 'Times the other end signalled that it is not operational (NOS)',
      },
      {
        name: 'error_frames',
        item: 6,
        file: 'error_frames',
        units: 'count',
        help: 'Frames that arrived damaged',
      },
      {
        name: 'dumped_frames',
        item: 7,
        file: 'dumped_frames',
        units: 'count',
        help: 'Frames dropped for lack of buffers in the adapter',
      },
      { name: 'in.frames', item: 0, file: 'rx_frames', units: 'count', help: 'Frames the adapter received' },
      {
        name: 'in.bytes',
        item: 2,
        file: 'rx_words',
        units: 'byte',
        times: WORD_BYTES,
        help: 'Data the adapter received',
        text: 'The kernel counts words of four bytes.',
      },
      { name: 'out.frames', item: 1, file: 'tx_frames', units: 'count', help: 'Frames the adapter sent' },
      {
        name: 'out.bytes',
        item: 3,
        file: 'tx_words',
        units: 'byte',
        times: WORD_BYTES,
        help: 'Data the adapter sent',
        text: 'The kernel counts words of four bytes.',
      },
    ],
  },
]

/** All bits set: written by Fibre Channel drivers for unsupported counters. */
const NOT_COUNTED = 2n ** 64n - 1n

/** A number in decimal or hexadecimal digits; undefined for anything else and for 'not counted'. */
export function parseStatistic(text: string | undefined): number | bigint | undefined {
  const value = parseNumber(text)
  if (value === undefined || value <= Number.MAX_SAFE_INTEGER) return value
  const exact = BigInt(text!)
  return exact === NOT_COUNTED ? undefined : exact
}

/** The metrics of tape drives (cluster 71) and Fibre Channel adapters (cluster 91). */
export function classStatisticsMetrics(ctx: LinuxContext): { [name: string]: OrderedRow } {
  const metrics: { [name: string]: OrderedRow } = {}
  for (const { prefix, cluster, serial, directory, pattern, statistics, what, hinv, rows } of CLASSES) {
    const instances = new InstanceIds()
    const reading = new Reading(() => ctx.list(directory).filter((name) => pattern.test(name)))
    const indom: IndomSpec = {
      serial,
      reading,
      instances: () => instances.list(reading.value),
      help: what,
      text: `Directories of ${directory}.`,
    }
    const [name, item, help] = hinv
    metrics[name] = {
      cluster,
      item,
      type: 'u32',
      sem: 'discrete',
      units: 'none',
      help,
      text: `Directories of ${directory}.`,
      reading,
      value: () => reading.value.length,
    }
    for (const row of rows) {
      metrics[`${prefix}.${row.name}`] = {
        cluster,
        item: row.item,
        type: 'u64',
        sem: row.isLevel === true ? 'instant' : 'counter',
        units: row.units,
        indom,
        help: row.help,
        text: `From ${directory}/DEVICE/${statistics}/${row.file}. No value where the driver does not count it.${row.text === undefined ? '' : ` ${row.text}`}`,
        value: (inst) => {
          const path = `${directory}/${instances.nameOf(inst)}/${statistics}/${row.file}`
          const value = parseStatistic(ctx.attribute(path))
          if (value === undefined || row.times === undefined) return value
          return BigInt.asUintN(64, BigInt(value) * BigInt(row.times))
        },
      }
    }
  }
  return metrics
}
