/** Turns evaluations of rules into alerts with a beginning and an end. */
import type { Alert } from './events.ts'

/** Options of a tracker. */
export interface TrackerOptions {
  /** Alerts that were active before the start. They continue if their rules are true again. */
  readonly active: readonly Alert[]
  /** When their rules were evaluated last, in seconds since the epoch. */
  readonly activeSec: number
  /** Are the rules the default ones? */
  readonly isDefault: boolean
  /** Called for each alert that begins or ends. */
  readonly onAlert: (alert: Alert) => void
  /** Is the lowest value of this rule the worst? */
  readonly isLow: (rule: string) => boolean
  readonly timesOf: (rule: string) => AlertTimes
}

/** How long alerts of a rule last without it, in seconds. */
export interface AlertTimes {
  /** An alert ends after its rule was not true for this time. */
  readonly clearSec: number
  /** After an interruption, when rules have to gather samples first, it ends after this time. */
  readonly resumeSec: number
}

/** An instance for which a rule is true. */
export interface Fired {
  /** '' without instances. */
  readonly instance: string
  readonly value: number | null
}

/** The least `clearSec`, so that a value around its threshold is one alert. */
export const CLEAR_SEC = 120
/** The least `resumeSec`. */
export const RESUME_SEC = 420
/** Most active alerts of a rule: a failing controller may raise one for each of hundreds of disks. */
const MOST_OF_RULE = 50

interface Active {
  alert: Alert
  /** When the rule was true last. */
  lastSec: number
  /** When the alert ends, unless the rule is true again. */
  endSec: number
}

/** Returns the times of a rule that is evaluated every `deltaSec` and needs so many samples, of counters one more. */
export function alertTimes(deltaSec: number, samples: number): AlertTimes {
  return {
    clearSec: Math.max(CLEAR_SEC, 2 * deltaSec),
    resumeSec: Math.max(RESUME_SEC, (samples + 1) * deltaSec),
  }
}

/** Keeps the active alerts. */
export class AlertTracker {
  readonly #options: TrackerOptions
  /** By rule, then instance. */
  readonly #active = new Map<string, Map<string, Active>>()

  /** `sec` is the present, in seconds since the epoch. */
  constructor(options: TrackerOptions, sec: number) {
    this.#options = options
    for (const alert of options.active) {
      const endSec = sec + options.timesOf(alert.rule).resumeSec
      this.#ofRule(alert.rule).set(alert.instance, { alert, lastSec: options.activeSec, endSec })
    }
  }

  /** The active alerts. */
  get active(): readonly Alert[] {
    return [...this.#active.values()].flatMap((own) => [...own.values()].map(({ alert }) => alert))
  }

  /** Notes that a rule is true at a time, in seconds since the epoch. */
  fired(rule: string, instances: readonly Fired[], sec: number): void {
    const own = this.#ofRule(rule)
    const { isDefault, timesOf, onAlert } = this.#options
    const endSec = sec + timesOf(rule).clearSec
    for (const { instance, value } of instances) {
      const known = own.get(instance)
      if (known !== undefined) {
        known.lastSec = sec
        known.endSec = endSec
        known.alert = { ...known.alert, value: this.#worse(rule, known.alert.value, value) }
      } else if (own.size < MOST_OF_RULE) {
        const alert: Alert = { rule, isDefault, instance, at: sec, until: null, value }
        own.set(instance, { alert, lastSec: sec, endSec })
        onAlert(alert)
      }
    }
  }

  /** Notes that rules could not be evaluated at a time, so that their samples are lost. */
  interrupted(isOf: (rule: string) => boolean, sec: number): void {
    for (const [rule, own] of this.#active)
      if (isOf(rule))
        for (const active of own.values()) active.endSec = sec + this.#options.timesOf(rule).resumeSec
  }

  /** Ends the alerts, of rules that were evaluated, whose rules have not been true for some time. */
  clear(isOf: (rule: string) => boolean, sec: number): void {
    for (const [rule, own] of this.#active) {
      if (!isOf(rule)) continue
      for (const [instance, { alert, lastSec, endSec }] of own) {
        // The clock may have been set back.
        if (sec >= lastSec && sec < endSec) continue
        own.delete(instance)
        this.#options.onAlert({ ...alert, until: Math.max(alert.at, Math.min(lastSec, sec)) })
      }
      if (own.size === 0) this.#active.delete(rule)
    }
  }

  #ofRule(rule: string): Map<string, Active> {
    let own = this.#active.get(rule)
    if (own === undefined) {
      own = new Map()
      this.#active.set(rule, own)
    }
    return own
  }

  #worse(rule: string, before: number | null, now: number | null): number | null {
    if (before === null || now === null) return before ?? now
    return this.#options.isLow(rule) ? Math.min(before, now) : Math.max(before, now)
  }
}
