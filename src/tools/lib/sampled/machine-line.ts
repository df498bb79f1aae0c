/** The line about the host above a report of Linux: `Linux  6.1.0  (db1)  11/20/26  x86_64    (8 CPU)`. pcp-mpstat(1) */
import { strftime } from '../../../time/strftime.ts'
import type { Zone } from '../../../time/zone.ts'
import type { Sample } from './metrics.ts'

const PARTS = ['nodename', 'release', 'sysname', 'machine'].map((name) => `kernel.uname.${name}`)

/** Number of processors of the host. */
export const CPU_COUNT = 'hinv.ncpu'
/** Metrics of the line. */
export const MACHINE_METRICS: readonly string[] = [...PARTS, CPU_COUNT]

/** Does a sample have the machine's data? As in PCP, reports begin with the first that does. */
export function knowsMachine(sample: Sample): boolean {
  return sample.has(CPU_COUNT)
}

/** Returns the line, with its newline; unknown parts are left out. */
export function machineLine(sample: Sample, zone: Zone): string {
  const [node, release, system, machine] = PARTS.map((name) => sample.text(name) ?? '')
  const date = strftime('%m/%d/%y', sample.time.sec, zone)
  return `${system}  ${release}  (${node})  ${date}  ${machine}    (${sample.text(CPU_COUNT) ?? ''} CPU)\n`
}
