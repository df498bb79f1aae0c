/** The key of this tab, taken from the link that the server printed. It authenticates the user. docs/start/npm-start.md */
import { type Signal, signal } from '@preact/signals'
import { inStore } from '../storage.ts'

const STORED = 'pcp-ts-key'
const FRAGMENT = /^#key=([\w-]{16,128})$/

const ofTab = (): Storage => sessionStorage

/** The key, also if the browser refuses session storage. */
let held: string | undefined

/** Has the server rejected the key of this tab? */
export const isSignedOut: Signal<boolean> = signal(false)

/** Moves a key from the address bar into this tab; returns whether there was one. It is not a cookie, because other users may listen on other ports of the host. */
export function takeKey(): boolean {
  const [, key] = FRAGMENT.exec(location.hash) ?? []
  if (key === undefined) return false
  held = key
  inStore(ofTab, (storage) => storage.setItem(STORED, key))
  history.replaceState(null, '', location.pathname + location.search)
  return true
}

/** Returns the key of this tab. */
export function pageKey(): string | undefined {
  held ??= inStore(ofTab, (storage) => storage.getItem(STORED)) ?? undefined
  return held
}

/** Forgets a key that the server has rejected, e.g. one of a previous server. */
export function forgetKey(): void {
  isSignedOut.value = true
  held = undefined
  inStore(ofTab, (storage) => storage.removeItem(STORED))
}

/** Returns WebSocket subprotocols that carry the key; browsers cannot set other headers. */
export function keyProtocols(): string[] {
  const key = pageKey()
  return key === undefined ? [] : ['pcp-ts', `key.${key}`]
}
