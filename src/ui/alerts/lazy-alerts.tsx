/** Loads the panel of alerts and notes when it is opened. */
import { signal } from '@preact/signals'
import type { ComponentChild } from 'preact'
import { useEffect } from 'preact/hooks'
import { showError } from '../page.ts'

type AlertsPart = typeof import('./AlertsPanel.tsx')

const part = signal<AlertsPart | undefined>(undefined)

/** Renders the panel, or a text until it is loaded. */
export function Alerts(): ComponentChild {
  useEffect(() => {
    if (part.value === undefined) import('./AlertsPanel.tsx').then((found) => (part.value = found), showError)
  }, [])
  return part.value === undefined ? <p class="empty">Loading …</p> : <part.value.AlertsPanel />
}
