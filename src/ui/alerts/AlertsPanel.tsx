/** The Alerts panel: active alerts with their explanations, notes, events of the window, and alerts of the past. */
import { useSignal } from '@preact/signals'
import type { ComponentChild } from 'preact'
import type { Alert } from '../../alerts/events.ts'
import { SEVERITIES } from '../../alerts/rule.ts'
import { printableWord } from '../../base/printable.ts'
import { events } from '../annotations/state.ts'
import { goToChart } from '../go-to.ts'
import { config, currentSource } from '../page.ts'
import { time } from '../time/control.ts'
import { formatDuration, formatTime } from '../time/format.ts'
import { seconds } from '../time/seconds.ts'
import { showWindow } from '../time/window-base.ts'
import { alertAnswer, alertProblem, hasAlerts, keyed, ruleOf, shownValue, titleOf } from './alerts.ts'
import { NoteList } from './NoteList.tsx'

/** Ended alerts and events listed initially, and added by each click. */
const PAGE = 30
/** Rules were not evaluated for this time, in seconds: that is worth a remark. */
const LATE_SEC = 180
/** Time shown before and after an alert, as a share of its duration, and at least in seconds. */
const [AROUND_SHARE, AROUND_SEC] = [0.5, 300]

/** Renders the panel. */
export function AlertsPanel(): ComponentChild {
  return (
    <div class="alerts">
      {hasAlerts(currentSource.value, config.value) ? <Active /> : <p class="hint">{whyNone()}</p>}
      <NoteList />
      <EventList />
      {hasAlerts(currentSource.value, config.value) && <History />}
    </div>
  )
}

function whyNone(): string {
  return config.value?.alerts === true
    ? 'Rules are evaluated for the host of this server only, not for this source.'
    : 'This server evaluates no rules: npm start does, unless it was started with --no-alerts.'
}

function Active(): ComponentChild {
  const answer = alertAnswer.value
  const problem = alertProblem.value
  if (answer === undefined)
    return problem === undefined ? (
      <p class="empty">Loading …</p>
    ) : (
      <p class="mistake">Alerts could not be read: {problem}</p>
    )
  seconds.value // how long ago changes though nothing arrives
  const active = answer.alerts.filter(({ until }) => until === null).sort(byUrgency)
  const late = answer.evaluated === null ? Number.POSITIVE_INFINITY : time.now() - answer.evaluated
  return (
    <section aria-label="Active alerts">
      <h3 class="unseen" aria-live="polite">
        {active.length} active
      </h3>
      {problem !== undefined && <p class="mistake">The newest alerts could not be read: {problem}</p>}
      {late > LATE_SEC && (
        <p class="mistake">
          {answer.evaluated === null
            ? 'The rules have not been evaluated yet.'
            : `The rules were last evaluated ${formatDuration(late)} ago.`}
        </p>
      )}
      {active.length === 0 ? (
        <p class="empty">No alert is active.</p>
      ) : (
        <ol>
          {keyed(active).map(([key, alert]) => (
            <Row key={key} alert={alert} isOpen />
          ))}
        </ol>
      )}
    </section>
  )
}

function History(): ComponentChild {
  const count = useSignal(PAGE)
  const { alerts = [], leftOut = 0 } = alertAnswer.value ?? {}
  const ended = alerts.filter(({ until }) => until !== null)
  return (
    <section aria-label="Earlier alerts">
      <h3>Earlier</h3>
      {alertAnswer.value !== undefined && ended.length === 0 && (
        <p class="empty">None since the alert log begins.</p>
      )}
      <ol>
        {keyed(ended.slice(0, count.value)).map(([key, alert]) => (
          <Row key={key} alert={alert} />
        ))}
      </ol>
      {ended.length > count.value && (
        <button type="button" onClick={() => (count.value += PAGE)}>
          Show more ({ended.length - count.value})
        </button>
      )}
      {leftOut > 0 && <p class="hint">{leftOut} older ones left out</p>}
    </section>
  )
}

const severityOf = (alert: Alert): (typeof SEVERITIES)[number] => ruleOf(alert)?.severity ?? 'warning'

function byUrgency(a: Alert, b: Alert): number {
  return SEVERITIES.indexOf(severityOf(a)) - SEVERITIES.indexOf(severityOf(b)) || b.at - a.at
}

interface RowProps {
  readonly alert: Alert
  /** Is the explanation open? */
  readonly isOpen?: boolean
}

function Row({ alert, isOpen = false }: RowProps): ComponentChild {
  const rule = ruleOf(alert)
  const zone = time.zone.value
  const { at, until } = alert
  const title = printableWord(titleOf(alert))
  const duration = formatDuration(Math.max(0, (until ?? time.now()) - at))
  return (
    <li class={severityOf(alert)}>
      <h4>
        <span class="severity">{severityOf(alert)}</span> {title}
      </h4>
      <div class="row">
        <p class="values">
          <strong>{shownValue(alert)}</strong>{' '}
          <small>
            {alert.value === null ? '' : 'at worst, '}
            {until === null ? 'since ' : ''}
            {formatTime(at, zone)}
            {until === null ? ` (${duration})` : until > at ? ` for ${duration}` : ''}
          </small>
        </p>
        <button type="button" onClick={() => showAlert(alert)} aria-label={`Show ${title}`}>
          Show
        </button>
      </div>
      {rule !== undefined && (
        <details open={isOpen}>
          <summary>{rule.name}</summary>
          <p>{rule.help}</p>
          <p>{rule.next}</p>
        </details>
      )}
    </li>
  )
}

/** Shows the time of an alert and the chart of its values. */
function showAlert(alert: Alert): void {
  const { at, until } = alert
  const end = until ?? time.now()
  const around = Math.max(AROUND_SEC, AROUND_SHARE * (end - at))
  showWindow({ from: at - around, to: until === null ? end : end + around, isLive: until === null })
  const look = ruleOf(alert)?.look
  if (look !== undefined) goToChart(look.page, look.chart)
}

function EventList(): ComponentChild {
  const zone = time.zone.value
  const { from, to } = time.frame.value
  const shown = events.value
    .filter(({ at, until = at }) => until >= from && at <= to)
    .sort((a, b) => b.at - a.at)
    .slice(0, PAGE)
  if (shown.length === 0) return null
  return (
    <section aria-label="Events of the window">
      <h3>In the window</h3>
      <ul>
        {shown.map(({ at, kind, text }) => (
          <li key={`${kind} ${at}`} class={`event-${kind}`}>
            <small>{formatTime(at, zone)}</small> {printableWord(text)}
          </li>
        ))}
      </ul>
    </section>
  )
}
