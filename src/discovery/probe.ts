/** Probes which hosts accept connections to a service. */

import { setMaxListeners } from 'node:events'
import { createConnection, isIPv6 } from 'node:net'
import { setLongTimeout } from '../base/after.ts'
import { onAbort } from '../base/on-abort.ts'
import type { Mechanism } from './mechanism.ts'

/** A service that was found. */
export interface FoundService {
  readonly address: string
  readonly port: number
}

/** Probes all hosts of a mechanism, many at a time; calls `found` for each that accepts. Stops early when aborted. */
export async function probe(
  { addresses, together, waitMs }: Mechanism,
  ports: readonly number[],
  found: (one: FoundService) => void,
  signal: AbortSignal,
): Promise<void> {
  setMaxListeners(0, signal) // each connection adds a listener
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

function accepts({ address, port }: FoundService, waitMs: number, signal: AbortSignal): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection({ host: address, port })
    const end = (isThere: boolean): void => {
      cancel()
      unlink()
      socket.destroy()
      resolve(isThere)
    }
    const giveUp = (): void => end(false)
    const cancel = setLongTimeout(waitMs, giveUp)
    const unlink = onAbort(signal, giveUp)
    socket.on('connect', () => end(true))
    socket.on('error', giveUp)
  })
}

/** Returns `pcp://HOST:PORT`. */
export function urlOf(scheme: string, { address, port }: FoundService): string {
  return `${scheme}://${isIPv6(address) ? `[${address}]` : address}:${port}`
}
