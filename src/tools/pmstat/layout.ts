/** The layout of pmstat's report. */
import { formatF } from '../../base/printf.ts'
import { IDLE, INTR, LOAD, MEMORY, NICE, RATES, STEAL, SYS, TIMES, USER, WAIT } from './source-values.ts'

/** Properties that determine the columns. */
export interface Layout {
  /** Begin lines with the host, and omit one column. */
  readonly hasNames: boolean
  /** Show wait and steal times in separate columns. */
  readonly isExtended: boolean
  /** `p` if swapping is counted in pages, `s` for operations. */
  readonly swapLetter: 'p' | 's'
}

/** Width of the host name. */
export const NAME_WIDTH = 7

/** Returns the two heading lines. */
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

/** Formats the values of a line, without name and newline. */
export function rowText(numbers: Float64Array, { hasNames, isExtended }: Layout): string {
  const load = numbers[LOAD]!
  let row = cell(Number.isNaN(load) ? NONE : formatF(load, 2), 7)
  for (let i = MEMORY; i < RATES; i++) if (!hasNames || i !== UNNAMED) row += cell(memoryText(numbers[i]!), 6)
  for (let i = RATES; i < TIMES; i++) row += cell(rateText(numbers[i]!), 4)
  return row + percentages(numbers, isExtended)
}

/** With several hosts PCP shows free memory under the buffers heading, and scripts rely on column positions. */
const UNNAMED = MEMORY + 2
const NONE = '?'

function cell(text: string, width: number): string {
  return ` ${text.padStart(width)}`
}

function cells(texts: readonly string[], width: number): string {
  return texts.map((text) => text.padStart(width)).join(' ')
}

/** Formats kilobytes in six characters. */
function memoryText(kbytes: number): string {
  if (Number.isNaN(kbytes)) return NONE
  if (kbytes < 1_000_000) return `${kbytes}`
  const mbytes = Math.floor(kbytes / 1024)
  return mbytes < 100_000 ? `${mbytes}m` : `${Math.floor(mbytes / 1024)}g`
}

/** Formats a rate in four characters. */
function rateText(rate: number): string {
  if (Number.isNaN(rate)) return NONE
  if (rate < 10_000) return `${rate}`
  const thousands = Math.floor(rate / 1000)
  return thousands < 1000 ? `${thousands}K` : `${Math.floor(thousands / 1000)}M`
}

/** Formats percentages of total time. As in PCP, guest time counts twice if the kernel includes it in user time. */
function percentages(numbers: Float64Array, isExtended: boolean): string {
  const [user, sys, idle] = [numbers[USER]!, numbers[SYS]!, numbers[IDLE]!]
  if (Number.isNaN(user + sys + idle)) return cell(NONE, 3).repeat(isExtended ? 5 : 3)
  let total = 0
  for (let i = TIMES; i < numbers.length; i++) total += known(numbers[i]!)
  const share = (time: number): string =>
    cell(total === 0 ? NONE : `${Math.floor((100 * time + Math.floor(total / 2)) / total)}`, 3)
  const [users, system] = [user + known(numbers[NICE]!), sys + known(numbers[INTR]!)]
  const [waiting, stolen] = [known(numbers[WAIT]!), known(numbers[STEAL]!)]
  return isExtended
    ? share(users) + share(system) + share(idle) + share(waiting) + share(stolen)
    : share(users) + share(system + stolen) + share(idle + waiting)
}

function known(time: number): number {
  return Number.isNaN(time) ? 0 : time
}
