/** Brings the rest of the page: when there is time for it, or when it is asked for. */
import { type ReadonlySignal, signal } from '@preact/signals'
import type { ComponentChild } from 'preact'
import { useEffect } from 'preact/hooks'
import { bringMatcher } from './view/view.ts'

/** What is in it. */
export type Rest = typeof import('./rest.ts')

const here = signal<Rest | undefined>(undefined)
const mistake = signal('')
let coming: Promise<Rest> | undefined

/** Files of an earlier build go with it: a page that was open before asks for what is no longer there. */
const MISSING = 'This part of the page is not to be had: reload the page, there may be a new version of it'

/** The rest of the page; undefined while nobody has asked for it, or it is on its way. */
export const rest: ReadonlySignal<Rest | undefined> = here

/** Asks for the rest of the page. Fails with a sentence for the person; whoever asks again then tries again. */
export function askForRest(): Promise<Rest> {
  coming ??= import('./rest.ts').then(
    (found) => {
      bringMatcher(found.isFound)
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

/** Brings the rest when the browser has nothing else to do. That it cannot be had is told to who asks for it. */
export function preloadRest(): void {
  const bring = (): void => void askForRest().catch(() => {})
  // Safari has no idle callbacks.
  if ('requestIdleCallback' in globalThis) requestIdleCallback(bring)
  else setTimeout(bring)
}

/** Stands for what the rest of the page draws, and asks for it. */
export function Later({ until }: { readonly until: ComponentChild }): ComponentChild {
  useEffect(() => void askForRest().catch(() => {}), []) // what is wrong is said below
  return mistake.value === '' ? until : <p class="empty">{mistake.value}</p>
}
