/** Layout of pmclient's report. */
import { formatF } from '../../base/printf.ts'
import type { Timestamp } from '../../base/timestamp.ts'
import { ctime } from '../../time/stamp.ts'
import type { Zone } from '../../time/zone.ts'
import type { Sample } from './activity.ts'

/** Returns the heading repeated every few rows, with the time of the previous sample. `where` names the host. */
export function heading(where: string, { sec }: Timestamp, zone: Zone, processors: number): string {
  const many = processors > 1
  return (
    `${where}${ctime(sec, zone)}\n` +
    `  CPU${many ? '  Busy    Busy' : ''}  Free Mem   Disk     Load Average\n` +
    ` Util${many ? '   CPU    Util' : ''}  (Mbytes)   IOPS    1 Min  15 Min\n`
  )
}

/** Returns one row; unknown values are question marks. */
export function rowText(sample: Sample, processors: number): string {
  const { utilisation, busiest, freeMbytes, iops, load1, load15 } = sample
  let text = fixed(utilisation, 2, 5)
  if (processors > 1) text += `   ${fixed(busiest?.cpu, 0, 3)}   ${fixed(busiest?.utilisation, 2, 5)}`
  text += ` ${fixed(freeMbytes, 3, 9)} ${fixed(iops === undefined ? undefined : Math.trunc(iops), 0, 6)}`
  return `${text}  ${fixed(load1, 2, 7)}  ${fixed(load15, 2, 7)}\n`
}

function fixed(value: number | undefined, decimals: number, width: number): string {
  return (value === undefined ? '?' : formatF(value, decimals)).padStart(width)
}
