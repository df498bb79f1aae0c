/** How pmstat lays out its report. */
import type { ProcessorTimes, Reading } from './readings.ts'

/** What decides about columns. */
export interface Layout {
  /** Lines begin with the host, and there is one column less. */
  readonly hasNames: boolean
  /** Times of processors waiting and stolen have columns of their own. */
  readonly isExtended: boolean
  /** `p` for swapping counted in pages, `s` for operations. */
  readonly swapLetter: 'p' | 's'
}

/** Characters of a host's name. */
export const NAME_WIDTH = 7

/** The two lines of headings. */
export function headings({ hasNames, isExtended, swapLetter }: Layout): string {
  const cpuWidth = isExtended ? 20 : 12
  const upper =
    (hasNames ? `${'node'.padEnd(NAME_WIDTH)}${'loadavg'.padStart(8)}` : 'loadavg'.padStart(8)) +
    'memory'.padStart(hasNames ? 21 : 28)
  const groups = 'swap'.padStart(10) + 'io'.padStart(10) + 'system'.padStart(10) + 'cpu'.padStart(cpuWidth)
  const memory = hasNames ? ['swpd', 'buff', 'cache'] : ['swpd', 'free', 'buff', 'cache']
  const rates = [`${swapLetter}i`, `${swapLetter}o`, 'bi', 'bo', 'in', 'cs']
  const cpu = isExtended ? ['us', 'sy', 'id', 'wa', 'st'] : ['us', 'sy', 'id']
  return (
    `${upper}${groups}\n` +
    `${hasNames ? ' '.repeat(NAME_WIDTH) : ''} ${cells(['1 min'], 7)} ${cells(memory, 6)} ${cells(rates, 4)} ${cells(cpu, 3)}\n`
  )
}

/** The values of a line, without name and newline. */
export function rowText(reading: Reading, { hasNames, isExtended }: Layout): string {
  const [swapped, free, buffers, cached] = reading.memory
  // With several hosts PCP shows free memory below the heading of buffers, and scripts count columns.
  const memory = hasNames ? [swapped, free, cached] : [swapped, free, buffers, cached]
  return (
    ` ${(reading.load?.toFixed(2) ?? '?').padStart(7)}` +
    ` ${cells(memory.map(memoryText), 6)} ${cells(reading.rates.map(rateText), 4)}` +
    ` ${cells(percentages(reading.cpu, isExtended), 3)}`
  )
}

function cells(texts: readonly string[], width: number): string {
  let row = ''
  for (let i = 0; i < texts.length; i++) row += `${i === 0 ? '' : ' '}${texts[i]!.padStart(width)}`
  return row
}

/** Kilobytes in six characters. */
function memoryText(kbytes: number | undefined): string {
  if (kbytes === undefined) return '?'
  if (kbytes < 1_000_000) return `${kbytes}`
  const mbytes = Math.floor(kbytes / 1024)
  return mbytes < 100_000 ? `${mbytes}m` : `${Math.floor(mbytes / 1024)}g`
}

/** A rate in four characters. */
function rateText(rate: number | undefined): string {
  if (rate === undefined) return '?'
  if (rate < 10_000) return `${rate}`
  const thousands = Math.floor(rate / 1000)
  return thousands < 1000 ? `${thousands}K` : `${Math.floor(thousands / 1000)}M`
}

/** Shares of all time that was counted. Guests count twice where the kernel counts them as users as well: as in PCP. */
function percentages(cpu: ProcessorTimes, isExtended: boolean): string[] {
  const { user, sys, idle } = cpu
  if (user === undefined || sys === undefined || idle === undefined)
    return Array<string>(isExtended ? 5 : 3).fill('?')
  const { nice = 0, intr = 0, wait = 0, steal = 0, guest = 0, guestNice = 0 } = cpu
  const total = nice + user + intr + sys + idle + wait + steal + guest + guestNice
  const share = (time: number): string =>
    total === 0 ? '?' : `${Math.floor((100 * time + Math.floor(total / 2)) / total)}`
  const [waiting, stolen] = [wait, steal]
  if (isExtended) return [share(user + nice), share(sys + intr), share(idle), share(waiting), share(stolen)]
  return [share(user + nice), share(sys + intr + stolen), share(idle + waiting)]
}
