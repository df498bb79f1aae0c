/** Turns evaluations of rules into alerts with a beginning and an end. */
import type { Alert } from './events.ts'

/** Options of a tracker. */
export interface TrackerOptions {
  /** Alerts that were active when the rules were last evaluated. They continue if their rules are true again. */
  readonly active: readonly Alert[]
  /** Called for each alert that begins or ends. */
  readonly onAlert: (alert: Alert) => void
  /** Is the lowest value of this rule the worst? */
  readonly isLow: (rule: string) => boolean
}

/** An instance for which a rule is true. */
export interface Fired {
  /** '' without instances. */
  readonly instance: string
  readonly value: number | null
}

/** An alert ends after its rule was not true for this time, in seconds, so that a value around its threshold is one alert. */
export const CLEAR_SEC = 120
/** Alerts of before the start end after this time: rules that need several samples are unknown until they have them. */
export const ADOPTED_SEC = 420
/** Most active alerts of a rule: a failing controller may raise one for each of hundreds of disks. */
const MOST_OF_RULE = 50

interface Active {
  alert: Alert
  /** When the rule was true last. */
  lastSec: number
  clearSec: number
}

/** Keeps the active alerts. */
export class AlertTracker {
  readonly #options: TrackerOptions
  /** By rule, then instance. */
  readonly #active = new Map<string, Map<string, Active>>()

  /** `sec` is the present, in seconds since the epoch. */
  constructor(options: TrackerOptions, sec: number) {
    this.#options = options
    for (const alert of options.active)
      this.#ofRule(alert.rule).set(alert.instance, { alert, lastSec: sec, clearSec: ADOPTED_SEC })
  }

  /** The active alerts. */
  get active(): readonly Alert[] {
    return [...this.#active.values()].flatMap((own) => [...own.values()].map(({ alert }) => alert))
  }

  /** Notes that a rule is true at a time, in seconds since the epoch. */
  fired(rule: string, instances: readonly Fired[], sec: number): void {
    const own = this.#ofRule(rule)
    for (const { instance, value } of instances) {
      const known = own.get(instance)
      if (known !== undefined) {
        known.lastSec = sec
        known.clearSec = CLEAR_SEC
        known.alert = { ...known.alert, value: this.#worse(rule, known.alert.value, value) }
      } else if (own.size < MOST_OF_RULE) {
        const alert: Alert = { rule, instance, at: sec, until: null, value }
        own.set(instance, { alert, lastSec: sec, clearSec: CLEAR_SEC })
        this.#options.onAlert(alert)
      }
    }
  }

  /** Ends the alerts whose rules have not been true for some time. */
  clear(sec: number): void {
    for (const [rule, own] of this.#active) {
      for (const [instance, { alert, lastSec, clearSec }] of own) {
        // The clock may have been set back.
        if (sec >= lastSec && sec - lastSec < clearSec) continue
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
