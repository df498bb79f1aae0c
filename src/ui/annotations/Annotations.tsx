/** Keeps the marks on the charts: alerts, notes and events of the current source. Renders nothing. */
import { useSignalEffect } from '@preact/signals'
import type { ComponentChild } from 'preact'
import { useEffect } from 'preact/hooks'
import { alertAnswer, alertProblem, hasAlerts, markAlerts, nextAnswer } from '../alerts/alerts.ts'
import { serverAlerts } from '../data/server.ts'
import { activeAlerts, config, currentSource, screen, stream } from '../page.ts'
import { time } from '../time/control.ts'
import { hostOf } from '../view/view.ts'
import { watchEvents } from './live-events.ts'
import { markNotes, notesOf } from './notes.ts'
import { findEvents, keepEvents, notes } from './state.ts'

/** Milliseconds between two questions for alerts. */
const POLL_MS = 15_000

export function Annotations(): ComponentChild {
  const isWatching = config.value?.alerts === true
  useEffect(() => {
    if (!isWatching) return
    const poll = (): void => {
      if (document.hidden) return
      nextAnswer(alertAnswer.peek(), (onlyActive) =>
        serverAlerts(onlyActive ? { from: Math.ceil(time.now()) } : {}),
      ).then(
        (answer) => {
          alertAnswer.value = answer
          alertProblem.value = undefined
        },
        (error: Error) => (alertProblem.value = error.message),
      )
    }
    poll()
    const timer = setInterval(poll, POLL_MS)
    document.addEventListener('visibilitychange', poll)
    return () => {
      clearInterval(timer)
      document.removeEventListener('visibilitychange', poll)
    }
  }, [isWatching])
  useSignalEffect(() => {
    const alerts = alertAnswer.value?.alerts ?? []
    const own = hasAlerts(currentSource.value, config.value) ? alerts : []
    activeAlerts.value = own.filter(({ until }) => until === null).length
    markAlerts(own)
  })
  useSignalEffect(() => markNotes(notesOf(notes.all.value, currentSource.value?.host)))
  useSignalEffect(() => {
    const source = currentSource.value
    const frame = time.frame.value
    // No chart is shown with the hosts.
    if (screen.value !== 'fleet' && source?.range !== undefined) void findEvents(source, frame)
  })
  useSignalEffect(() => {
    const { key = '', range } = currentSource.value ?? {}
    if (range !== undefined) return
    keepEvents([])
    const host = hostOf(key)
    return host === undefined ? undefined : watchEvents(stream, host, keepEvents)
  })
  return null
}
