/** Loads the process table when a view has one. */
import { signal } from '@preact/signals'
import type { ComponentChild } from 'preact'
import { useEffect } from 'preact/hooks'
import type { OwnProps } from '../chart/kind.ts'
import { showError } from '../page.ts'

type ProcessPart = typeof import('./ProcessTable.tsx')

const part = signal<ProcessPart | undefined>(undefined)

/** Renders the table, or a text until it is loaded. */
export function Processes(props: OwnProps): ComponentChild {
  useEffect(() => {
    if (part.value === undefined)
      import('./ProcessTable.tsx').then((found) => (part.value = found), showError)
  }, [])
  return part.value === undefined ? (
    <p class="empty list">Waiting for values …</p>
  ) : (
    <part.value.ProcessTable {...props} />
  )
}
