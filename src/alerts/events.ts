/**
 * Lines of the alert log: JSON, a line for the beginning and one for the end of each alert. docs/reference/alerts.md
 *
 *     {"event":"begin","rule":"disk.slow","default":true,"instance":"sda","at":1764295800.1,"value":140}
 *     {"event":"end","rule":"disk.slow","default":true,"instance":"sda","at":1764295800.1,"until":1764296010.1,"value":310}
 */

/** An alert: a rule that was true for some time, for an instance of its metrics if it has any. */
export interface Alert {
  readonly rule: string
  /** Is it one of the default rules? A rule of the user may have the name of one, and another meaning. */
  readonly isDefault: boolean
  /** Name of the instance; '' without one. */
  readonly instance: string
  /** Start, in seconds since the epoch. */
  readonly at: number
  /** When the rule was true last, in seconds since the epoch; null while the alert is active. */
  readonly until: number | null
  /** The worst value; in an active alert so far. Null if it is unknown. */
  readonly value: number | null
}

/** Answer of /ui/api/alerts. */
export interface AlertAnswer {
  /** The active alerts and those ended in the window, newest first. */
  readonly alerts: readonly Alert[]
  /** Number of older alerts in the window that are left out. */
  readonly leftOut: number
  /** Changes with each alert that begins or ends. */
  readonly version: string
  /** When rules were evaluated last, in seconds since the epoch; null if that is not known. */
  readonly evaluated: number | null
}

/** Most bytes of a log that is read. Two logs are kept; a full one is larger than its limit by the active alerts. */
export const MOST_LOG_BYTES: number = 4 * 1024 * 1024

/** Added to the name of a log: the active alerts with their worst values. */
export const ACTIVE_SUFFIX = '.active'

/** Longest name of a rule or an instance, in characters. */
const LONGEST_NAME = 200

/** Returns the line, with its end, for an alert that has begun or ended. */
export function alertLine({ rule, isDefault, instance, at, until, value }: Alert): string {
  const own = {
    rule: rule.slice(0, LONGEST_NAME),
    default: isDefault,
    instance: instance.slice(0, LONGEST_NAME),
    at,
  }
  const event = until === null ? { event: 'begin', ...own, value } : { event: 'end', ...own, until, value }
  return `${JSON.stringify(event)}\n`
}

/** Returns the alerts of a log in the order of their first lines. Damaged lines, such as one cut off by a crash, are skipped. */
export function readAlerts(text: string): Alert[] {
  const found = new Map<string, Alert>()
  for (const line of text.split('\n')) {
    const alert = alertOf(line)
    if (alert === undefined) continue
    const key = keyOf(alert)
    // A log that was begun with active alerts repeats their lines.
    if (alert.until !== null || !found.has(key)) found.set(key, alert)
  }
  return [...found.values()]
}

/**
 * Returns alerts with the values of the file beside the log, which has the active alerts with their worst values so far. Alerts that are
 * not active in the log are unchanged: the file may be older than its last lines.
 */
export function withWorstValues(alerts: readonly Alert[], activeText: string): Alert[] {
  const worst = new Map(readAlerts(activeText).map((alert) => [keyOf(alert), alert.value]))
  return alerts.map((alert) =>
    alert.until === null ? { ...alert, value: worst.get(keyOf(alert)) ?? alert.value } : alert,
  )
}

const keyOf = ({ rule, instance, at }: Alert): string => JSON.stringify([rule, instance, at])

function alertOf(line: string): Alert | undefined {
  let given: Partial<Record<string, unknown>>
  try {
    given = JSON.parse(line)
  } catch {
    return undefined
  }
  if (typeof given !== 'object' || given === null) return undefined
  const { event, rule, instance, at, until, value } = given
  if (typeof rule !== 'string' || typeof instance !== 'string' || typeof at !== 'number') return undefined
  if (rule.length > LONGEST_NAME || instance.length > LONGEST_NAME) return undefined
  const known = typeof value === 'number' ? value : null
  const alert = { rule, isDefault: given['default'] === true, instance, at, value: known }
  if (event === 'begin') return { ...alert, until: null }
  return event === 'end' && typeof until === 'number' ? { ...alert, until } : undefined
}
