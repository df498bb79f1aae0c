/** Over archives, actions are printed instead of performed. docs/reference/pmie.md */
import type { Timestamp } from '../base/timestamp.ts'
import { ctime } from '../time/stamp.ts'
import type { Zone } from '../time/zone.ts'
import type { Firing } from './actions.ts'

/** Default format of an action: %a action, %d date, %f file, %l line, %m message, %u date with microseconds, %%. */
export const DEFAULT_FORMAT = '%a %d: %m'

/** Formats an action at a time. */
export type LineOf = (firing: Firing, time: Timestamp) => string

/** Compiles a format once; the date is formatted once per evaluation time. */
export function lineFormat(format: string, zone: Zone): LineOf {
  const dateOf = lastOnly((sec: number) => ctime(sec, zone))
  const parts = format.split(/(%[adflmu%])/).map((text): string | LineOf => {
    switch (text) {
      case '%a':
        return ({ action }) => action
      case '%d':
        return (_, { sec }) => dateOf(sec)
      case '%f':
        return ({ file }) => file
      case '%l':
        return ({ line }) => String(line)
      case '%m':
        return messageShown
      case '%u':
        return (_, time) => withMicroseconds(time, dateOf(time.sec))
      case '%%':
        return '%'
      default:
        return text
    }
  })
  return (firing, time) => {
    let line = ''
    for (const part of parts) line += typeof part === 'string' ? part : part(firing, time)
    return `${line}\n`
  }
}

/** Caches the last result. */
function lastOnly(compute: (key: number) => string): (key: number) => string {
  let last: { key: number; text: string } | undefined
  return (key) => {
    if (last?.key !== key) last = { key, text: compute(key) }
    return last.text
  }
}

/** Returns the message without options of syslog. */
export function messageShown(firing: Pick<Firing, 'action' | 'message' | 'args'>): string {
  return firing.message.slice(optionsLength(firing))
}

/** Returns the first `most` characters of the message without options of syslog. */
export function messageShownStart(firing: Firing, most: number): string {
  const skipped = optionsLength(firing)
  return firing.messageStart(skipped + most).slice(skipped, skipped + most)
}

/** Returns the length of the options of syslog with which a message begins. */
function optionsLength({ action, args }: Pick<Firing, 'action' | 'args'>): number {
  let length = 0
  if (action === 'syslog')
    for (let i = 0; i + 1 < args.length && /^-[pt]$/.test(args[i]!); i += 2)
      length += args[i]!.length + args[i + 1]!.length
  return length
}

function withMicroseconds({ nsec }: Timestamp, date: string): string {
  return `${date.slice(0, 19)}.${String(Math.floor(nsec / 1000)).padStart(6, '0')}${date.slice(19)}`
}

/** Formats a firing as a line of JSON. */
export function firingJson({ action, rule, file, line, message, bindings }: Firing, time: Timestamp): string {
  const iso = new Date(time.sec * 1000).toISOString().slice(0, 19)
  const stamp = `${iso}.${String(time.nsec).padStart(9, '0')}Z`
  const shown = bindings.map(({ host, instance, value, connection }) => ({
    host,
    instance,
    value,
    connection,
  }))
  return `${JSON.stringify({ time: stamp, rule, action, message, file, line, bindings: shown })}\n`
}
