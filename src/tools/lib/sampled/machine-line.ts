/** The line about the host above a report of Linux: `Linux  6.1.0  (db1)  11/20/26  x86_64    (8 CPU)`. pcp-mpstat(1) */
import { strftime } from '../../../time/strftime.ts'
import type { Zone } from '../../../time/zone.ts'
import type { Sample } from './metrics.ts'

const PARTS = ['nodename', 'release', 'sysname', 'machine'].map((name) => `kernel.uname.${name}`)

/** How many processors the host has. */
export const CPU_COUNT = 'hinv.ncpu'
/** What the line is made of. */
export const MACHINE_METRICS: readonly string[] = [...PARTS, CPU_COUNT]

/** Does a sample know the machine? As in PCP reports begin with the first that does. */
export function knowsMachine(sample: Sample): boolean {
  return sample.has(CPU_COUNT)
}

/** The line, with its newline; what is not known is left out. */
export function machineLine(sample: Sample, zone: Zone): string {
  const [node, release, system, machine] = PARTS.map((name) => sample.text(name) ?? '')
  const date = strftime('%m/%d/%y', sample.time.sec, zone)
  return `${system}  ${release}  (${node})  ${date}  ${machine}    (${sample.text(CPU_COUNT) ?? ''} CPU)\n`
}
