/** The key that proves a page is its user's: from the link that the server printed, for this tab. docs/start.md */

import { inStore } from '../storage.ts'

const STORED = 'pcp-ts-key'
const FRAGMENT = /^#key=([\w-]{16,128})$/

const ofTab = (): Storage => sessionStorage

/** The key, also where the browser keeps nothing for this tab. */
let held: string | undefined

/** Takes the key out of the address bar, where there is one. Not a cookie: those are for every port of a host, and other users may listen there. */
export function takeKey(): void {
  const [, key] = FRAGMENT.exec(location.hash) ?? []
  if (key === undefined) return
  held = key
  inStore(ofTab, (storage) => storage.setItem(STORED, key))
  history.replaceState(null, '', location.pathname + location.search)
}

/** The key of this tab. */
export function pageKey(): string | undefined {
  held ??= inStore(ofTab, (storage) => storage.getItem(STORED)) ?? undefined
  return held
}

/** Forgets a key that the server does not accept, such as that of a server before it. */
export function forgetKey(): void {
  held = undefined
  inStore(ofTab, (storage) => storage.removeItem(STORED))
}

/** Subprotocols of a WebSocket, which can carry no other header. */
export function keyProtocols(): string[] {
  const key = pageKey()
  return key === undefined ? [] : ['pcp-ts', `key.${key}`]
}
