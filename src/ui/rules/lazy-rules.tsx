/** Loads the panel of rules when it is opened. */
import { signal } from '@preact/signals'
import type { ComponentChild } from 'preact'
import { useEffect } from 'preact/hooks'
import { showError } from '../page.ts'

type RulesPart = typeof import('./RulesPanel.tsx')

const part = signal<RulesPart | undefined>(undefined)

/** Renders the panel, or a text until it is loaded. */
export function Rules(): ComponentChild {
  useEffect(() => {
    if (part.value === undefined) import('./RulesPanel.tsx').then((found) => (part.value = found), showError)
  }, [])
  return part.value === undefined ? <p class="empty">Loading …</p> : <part.value.RulesPanel />
}
