/** Loads the rest of the page, when the browser is idle or when it is needed. */
import { type ReadonlySignal, signal } from '@preact/signals'
import type { ComponentChild } from 'preact'
import { useEffect } from 'preact/hooks'
import { setPmchartViews } from './view/built-in.ts'
import { setMatcher } from './view/view.ts'

/** Exports of the lazily loaded part. */
export type LazyPart = typeof import('./lazy-part.ts')

const here = signal<LazyPart | undefined>(undefined)
const mistake = signal('')
let coming: Promise<LazyPart> | undefined

/** Shown when the chunk is missing, e.g. because a new build was installed after the page was loaded. */
const MISSING = 'This part of the page could not be loaded; reload the page to get the current version'

/** The rest of the page; undefined until it is loaded. */
export const lazyPart: ReadonlySignal<LazyPart | undefined> = here

/** Loads the rest of the page. Rejects with a message for the user; the next call retries. */
export function loadLazyPart(): Promise<LazyPart> {
  coming ??= import('./lazy-part.ts').then(
    (found) => {
      setMatcher(found.isFound)
      setPmchartViews(found.PMCHART_VIEWS)
      here.value = found
      return found
    },
    (cause) => {
      coming = undefined
      mistake.value = MISSING
      throw new Error(MISSING, { cause })
    },
  )
  return coming
}

/** Loads the rest of the page when the browser is idle. Errors are left for the first caller that needs it. */
export function preloadLazyPart(): void {
  const bring = (): void => void loadLazyPart().catch(() => {})
  // Safari has no idle callbacks.
  if ('requestIdleCallback' in globalThis) requestIdleCallback(bring)
  else setTimeout(bring)
}

/** Placeholder for a component of the rest of the page; starts loading it. */
export function Later({ until }: { readonly until: ComponentChild }): ComponentChild {
  useEffect(() => void loadLazyPart().catch(() => {}), []) // the error is shown below
  return mistake.value === '' ? until : <p class="empty">{mistake.value}</p>
}
