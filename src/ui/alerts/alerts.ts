/** Alerts of the host whose rules the server evaluates: read regularly, drawn as marks. */
import { type Signal, signal } from '@preact/signals'
import { DEFAULT_RULES } from '../../alerts/default-rules.ts'
import type { Alert, AlertAnswer } from '../../alerts/events.ts'
import type { AlertRule } from '../../alerts/rule.ts'
import type { ConfigAnswer } from '../data/responses.ts'
import type { Source } from '../data/source.ts'
import { type Mark, setMarks } from '../marks/marks.ts'
import { showNumber } from '../view/measure.ts'
import { hostKey } from '../view/view.ts'

/** The newest answer of the server; undefined before the first one. */
export const alertAnswer: Signal<AlertAnswer | undefined> = signal(undefined)

/** Why the last question to the server failed; undefined if it did not. */
export const alertProblem: Signal<string | undefined> = signal(undefined)

/** Owner of the marks. */
const OWNER = 'alerts'

const RULES: ReadonlyMap<string, AlertRule> = new Map(DEFAULT_RULES.map((rule) => [rule.name, rule]))

/** Returns the default rule of an alert; undefined for a rule of the user. */
export const ruleOf = ({ rule, isDefault }: Pick<Alert, 'rule' | 'isDefault'>): AlertRule | undefined =>
  isDefault ? RULES.get(rule) : undefined

/** Returns the title of an alert with its instance. */
export function titleOf(alert: Alert): string {
  const title = ruleOf(alert)?.title ?? alert.rule
  return alert.instance === '' ? title : `${title}: ${alert.instance}`
}

/** Returns the value of an alert with its unit; '' if it is unknown. */
export function shownValue(alert: Alert): string {
  return alert.value === null ? '' : `${showNumber(alert.value)}${ruleOf(alert)?.unit ?? ''}`
}

/** Returns alerts with keys that differ. Guests see alerts of the user's rules without their instances, so several may look the same. */
export function keyed(alerts: readonly Alert[]): readonly (readonly [key: string, alert: Alert])[] {
  const seen = new Map<string, number>()
  return alerts.map((alert) => {
    const name = JSON.stringify([alert.rule, alert.instance, alert.at])
    const nth = (seen.get(name) ?? 0) + 1
    seen.set(name, nth)
    return [`${name} ${nth}`, alert]
  })
}

/** Checks whether a source shows the host of the alerts: the server's own host, or an archive of it. */
export function hasAlerts(source: Source | undefined, config: ConfigAnswer | undefined): boolean {
  if (source === undefined || config?.alerts !== true) return false
  const [own = 'local:'] = config.hosts
  if (source.key === hostKey(own)) return true
  return config.history !== null && source.key.startsWith(`archive:${config.history}/`)
}

/** Replaces the marks; `alerts` are those of the current source. */
export function markAlerts(alerts: readonly Alert[]): void {
  setMarks(
    OWNER,
    alerts.map((alert): Mark => {
      const value = shownValue(alert)
      const text = value === '' ? titleOf(alert) : `${titleOf(alert)} (${value})`
      // Until the end that is not known yet, or an instant.
      const until = alert.until ?? Number.POSITIVE_INFINITY
      return { at: alert.at, kind: 'alert', text, ...(until > alert.at ? { until } : {}) }
    }),
  )
}

/** Reads alerts: all of them only if one has begun or ended since the last answer, else the values of the active ones. */
export async function nextAnswer(
  known: AlertAnswer | undefined,
  ask: (onlyActive: boolean) => Promise<AlertAnswer>,
): Promise<AlertAnswer> {
  if (known === undefined) return ask(false)
  const brief = await ask(true)
  if (brief.version !== known.version) return ask(false)
  const isActive = ({ until }: Alert): boolean => until === null
  const ended = known.alerts.filter((alert) => !isActive(alert))
  return { ...known, evaluated: brief.evaluated, alerts: [...brief.alerts.filter(isActive), ...ended] }
}
