/** pmdate: prints the current time with offsets, in any format. pmdate(1) */
import { DAY, daysOf } from '../time/calendar.ts'
import { strftime } from '../time/strftime.ts'
import { localMoment, localTime, type Zone } from '../time/zone.ts'
import type { OptionTable } from './lib/options.ts'
import type { Tool } from './lib/tool.ts'
import { processTimeZone } from './lib/zone.ts'

const OPTIONS: OptionTable = { synopsis: '{ +valueS | -valueS } ... format', operands: 'none', rows: [] }

const SCALES = `
where the scale "S" is one of: S (seconds), M (minutes), H (hours), 
d (days), m (months) or y (years)
`

/** Unit of an offset. */
type Scale = 'S' | 'M' | 'H' | 'd' | 'm' | 'y'

/** Prints a time in the format of the last operand. */
export const tool: Tool = {
  name: 'pmdate',
  summary: 'Show the date and time with an offset',
  description: `
Each offset moves the time by a number of seconds (S), minutes (M), hours (H), days (d), months (m) or years (y). All are added to
the current local date and time; days beyond the end of a month continue in the next one. The format is that of strftime(3).`,
  examples: [
    ['pmdate -1d %Y%m%d', 'Yesterday, in the form of archive names:'],
    ['pmdate +1m -1H "%d %b %H:%M"', 'An hour before this time next month:'],
  ],
  options: OPTIONS,
  async run(io) {
    const { args, stderr } = io
    const format = args.at(-1)
    if (format === undefined || args.includes('-?') || args.includes('--help')) {
      stderr.write(`Usage: ${io.progname} ${OPTIONS.synopsis}\n${SCALES}`)
      return 1
    }
    const offsets: Offset[] = []
    for (const text of args.slice(0, -1)) {
      const offset = parseOffset(text)
      if (typeof offset === 'string') {
        stderr.write(`${io.progname}: ${offset}\n`)
        return 1
      }
      offsets.push(offset)
    }
    const zone = processTimeZone(io)
    io.stdout.write(`${strftime(format, moved(Math.floor(io.now() / 1000), offsets, zone), zone)}\n`)
    return 0
  },
}

interface Offset {
  readonly value: number
  readonly scale: Scale
}

/** Parses an offset, or returns an error message. A sign without digits is 0; anything after the unit is ignored. */
function parseOffset(text: string): Offset | string {
  if (!/^[+-]/.test(text)) return `incorrect leading sign for offset (${text}), must be "+" or "-"`
  const match = /^([+-])([+-]?\d*)([SMHdmy])/.exec(text)
  if (match === null) return `unknown scale after offset (${text})`
  const [, sign, digits, scale] = match
  const value = Number(/\d/.test(digits!) ? digits : 0)
  return { value: sign === '-' ? -value : value, scale: scale as Scale }
}

/**
 * Adds offsets to the local date and time, with mktime(3)'s handling of daylight saving: keeps the UTC offset of now if it differs at
 * the result.
 */
function moved(now: number, offsets: readonly Offset[], zone: Zone): number {
  const sum: Record<Scale, number> = { S: 0, M: 0, H: 0, d: 0, m: 0, y: 0 }
  for (const { value, scale } of offsets) sum[scale] += value
  const local = localTime(now, zone)
  const months = local.month - 1 + sum.m
  const years = Math.floor(months / 12)
  const days = daysOf(local.year + sum.y + years, months - years * 12 + 1, 1) + local.day - 1 + sum.d
  const seconds = (local.hour + sum.H) * 3600 + (local.minute + sum.M) * 60 + local.second + sum.S
  const day = days + Math.floor(seconds / DAY)
  const moment = localMoment(day, seconds - Math.floor(seconds / DAY) * DAY, zone)
  const then = zone.at(moment)
  if (then.isDst === local.zone.isDst) return moment
  return days * DAY + seconds - local.zone.offset
}
