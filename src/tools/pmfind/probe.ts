/** Which hosts accept connections to a service. */

import { setMaxListeners } from 'node:events'
import { createConnection, isIPv6 } from 'node:net'
import { after } from '../../base/after.ts'
import { onAbort } from '../../base/on-abort.ts'
import type { Mechanism } from './mechanism.ts'

/** A host that has a service. */
export interface Found {
  readonly address: string
  readonly port: number
}

/** Asks all hosts of a mechanism, many at a time; `found` hears of those that accept. Ends early when the signal says so. */
export async function probe(
  { addresses, together, waitMs }: Mechanism,
  ports: readonly number[],
  found: (one: Found) => void,
  signal: AbortSignal,
): Promise<void> {
  setMaxListeners(0, signal) // each connection has one
  const targets = (function* () {
    for (const address of addresses()) for (const port of ports) yield { address, port }
  })()
  const worker = async (): Promise<void> => {
    for (const target of targets) {
      if (signal.aborted) return
      if (await accepts(target, waitMs, signal)) found(target)
    }
  }
  await Promise.all(Array.from({ length: together }, worker))
}

function accepts({ address, port }: Found, waitMs: number, signal: AbortSignal): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection({ host: address, port })
    const end = (isThere: boolean): void => {
      cancel()
      unlink()
      socket.destroy()
      resolve(isThere)
    }
    const giveUp = (): void => end(false)
    const cancel = after(waitMs, giveUp)
    const unlink = onAbort(signal, giveUp)
    socket.on('connect', () => end(true))
    socket.on('error', giveUp)
  })
}

/** `pcp://HOST:PORT`. */
export function urlOf(scheme: string, { address, port }: Found): string {
  return `${scheme}://${isIPv6(address) ? `[${address}]` : address}:${port}`
}
