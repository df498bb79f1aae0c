/** Loads the panel of changes when it is opened. */
import { signal } from '@preact/signals'
import type { ComponentChild } from 'preact'
import { useEffect } from 'preact/hooks'
import type { LazyPart } from '../lazy.tsx'
import { showError } from '../page.ts'

type ChangesPart = typeof import('./ChangesPanel.tsx')

const part = signal<ChangesPart | undefined>(undefined)

/** Renders the panel, or a text until it is loaded. */
export function Changes(props: { readonly parts: LazyPart }): ComponentChild {
  useEffect(() => {
    if (part.value === undefined)
      import('./ChangesPanel.tsx').then((found) => (part.value = found), showError)
  }, [])
  return part.value === undefined ? <p class="empty">Loading …</p> : <part.value.ChangesPanel {...props} />
}
