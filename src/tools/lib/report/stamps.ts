/** Times and zones in reports. pmrep(1) -f -x -k */
import type { Timestamp } from '../../../base/timestamp.ts'
import { strftime } from '../../../time/strftime.ts'
import { type LocalTime, localTime, type Zone } from '../../../time/zone.ts'

/** Formats times, caching the last text, as those of one second often look the same. */
export class StampWriter {
  readonly #format: string
  readonly #zone: Zone
  readonly #isFine: boolean
  #sec: number | undefined
  #text = ''

  constructor(format: string, zone: Zone) {
    this.#format = format
    this.#zone = zone
    this.#isFine = format.includes('%f')
  }

  /** Formats a time. */
  text({ sec, nsec }: Timestamp): string {
    if (sec === this.#sec && !this.#isFine) return this.#text
    this.#sec = sec
    this.#text = this.#format === '' ? '' : this.#write(sec, nsec)
    return this.#text
  }

  #write(sec: number, nsec: number): string {
    if (this.#format === '%H:%M:%S') return clock(localTime(sec, this.#zone))
    if (this.#format === '%Y-%m-%d %H:%M:%S') {
      const time = localTime(sec, this.#zone)
      return `${time.year}-${two(time.month)}-${two(time.day)} ${clock(time)}`
    }
    return strftime(this.#format, sec, this.#zone, nsec)
  }
}

function clock({ hour, minute, second }: LocalTime): string {
  return `${two(hour)}:${two(minute)}:${two(second)}`
}

function two(n: number): string {
  return n < 10 ? `0${n}` : String(n)
}

/** Formats a zone's offset from UTC at a time: `UTC+5:30`. */
export function utcOffset(zone: Zone, sec: number): string {
  const { offset } = zone.at(sec)
  const minutes = Math.floor(Math.abs(offset) / 60)
  const rest = minutes % 60
  return `UTC${offset < 0 ? '-' : '+'}${Math.floor(minutes / 60)}${rest === 0 ? '' : `:${two(rest)}`}`
}

/** Formats a duration in whole seconds: `00:00:04`, `2 days, 15:01:40`. */
export function durationText(seconds: number): string {
  const whole = Math.max(0, Math.floor(seconds + 0.5))
  const days = Math.floor(whole / 86_400)
  const rest = whole % 86_400
  const time = `${two(Math.floor(rest / 3600))}:${two(Math.floor(rest / 60) % 60)}:${two(rest % 60)}`
  if (days === 0) return time
  return `${days} day${days === 1 ? '' : 's'}, ${time}`
}
