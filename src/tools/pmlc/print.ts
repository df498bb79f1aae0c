/** Formats a pmlogger's status and logging states. pmlc(1) */
import { formatF } from '../../base/printf.ts'
import type { Timestamp } from '../../base/timestamp.ts'
import type { ValueSet } from '../../model/values.ts'
import { ctime } from '../../time/stamp.ts'
import type { Zone } from '../../time/zone.ts'
import type { LogStatus } from '../../wire/log-status.ts'

const IS_ON = 1
const IS_MANDATORY = 2
const IS_AVAILABLE = 4
const IS_LOGGED = 8

/** State of an instance from a reply. */
export interface InstanceState {
  readonly isOn: boolean
  readonly isMandatory: boolean
  readonly deltaMs: number
}

/** Unpacks a state word. */
export function stateOf(word: number): InstanceState {
  return { isOn: (word & IS_ON) !== 0, isMandatory: (word & IS_MANDATORY) !== 0, deltaMs: word >>> 4 }
}

/** Formats one metric: its name, a line for each instance, an empty line. `names` are the instance names. */
export function queryText(
  name: string,
  set: ValueSet,
  names: ReadonlyMap<number, string> | undefined,
): string {
  if (set.status === 0) return `${name}\n    (no instances)\n\n`
  const rows = [...set.inst].map((inst, i) => {
    const row = `    ${stateText(set.word[i]!)}`
    return names === undefined ? row : `${row} ${instanceText(inst, names)}`
  })
  return `${name}\n${rows.join('\n')}\n\n`
}

/** Formats an instance: `[100 or "bin-100"]`. */
export function instanceText(inst: number, names: ReadonlyMap<number, string>): string {
  return `[${inst} or "${names.get(inst) ?? ''}"]`
}

function stateText(word: number): string {
  const { isOn, isMandatory, deltaMs } = stateOf(word)
  const logged = (word & IS_LOGGED) === 0 ? 'nl' : (word & IS_AVAILABLE) === 0 ? 'na' : ''
  const interval = isOn ? intervalText(deltaMs) : ' '.repeat(12)
  return `${isMandatory ? 'mand' : 'adv '} ${(isOn ? 'on' : 'off').padEnd(4)}${logged.padEnd(3)}${interval}`
}

const UNITS = [
  [3_600_000, 'hour'],
  [60_000, 'min'],
  [1000, 'sec'],
  [1, 'msec'],
] as const

/** Formats an interval in the largest unit that gives at least 1, with at most three decimals. */
function intervalText(ms: number): string {
  if (ms === 0) return '        once'
  const [scale, unit] = UNITS.find(([size]) => ms >= size)!
  const value = ms / scale
  const decimals = [0, 1, 2].find((count) => Number(value.toFixed(count)) === value) ?? 3
  return `${formatF(value, decimals).padStart(7 - decimals)} ${unit.padEnd(4)}`
}

/** Formats the output of `status`. */
export function statusText(
  status: LogStatus,
  logger: { readonly pid: number; readonly isPrimary: boolean; readonly host: string },
  { zone, zoneName }: { readonly zone: Zone; readonly zoneName: string },
): string {
  const which = logger.isPrimary ? 'primary' : logger.pid
  const { pmcdHost = '', pmcdFqdn = '' } = status
  const lines = [
    `pmlogger [${which}] on host ${logger.host} is logging metrics from host ${pmcdHost}`,
    `PMCD host        ${pmcdFqdn || pmcdHost}`,
  ]
  if (status.state === 0) lines.push("logging hasn't started yet")
  else {
    lines.push(`log started      ${timeText(status.start, zone)} (times in ${zoneName} time)`)
    lines.push(`last log entry   ${timeText(status.last, zone)}`)
    lines.push(`current time     ${timeText(status.now, zone)}`)
    lines.push(`log volume       ${status.volume}`)
    lines.push(`log size         ${status.size}`)
  }
  return `${lines.join('\n')}\n`
}

/** Formats a time: `Fri Nov 20 14:37:40.033595000 2026`. */
function timeText({ sec, nsec }: Timestamp, zone: Zone): string {
  const text = ctime(sec, zone).trimEnd()
  return `${text.slice(0, 19)}.${String(nsec).padStart(9, '0')}${text.slice(19)}`
}
