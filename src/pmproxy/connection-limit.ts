/** Limits connections, in total and per remote address. docs/explanation/security.md */
import type { Socket } from 'node:net'
import { isLoopback } from '../net/loopback.ts'
import type { Limits } from './limits.ts'

/** The used part of a connection. */
export type LimitedConnection = Pick<Socket, 'remoteAddress' | 'destroy' | 'once'>

/** Open connections of a server. */
export class ConnectionLimit {
  readonly #limits: Pick<Limits, 'connections' | 'ofOneAddress'>
  readonly #all = new Set<LimitedConnection>()
  readonly #byAddress = new Map<string, number>()

  constructor(limits: Pick<Limits, 'connections' | 'ofOneAddress'>) {
    this.#limits = limits
  }

  /** Admits a connection until it closes; closes it if there are too many, and returns false. */
  admit(guest: LimitedConnection): boolean {
    const { connections, ofOneAddress } = this.#limits
    // Loopback connections may come from a forwarder with many clients.
    const address = isLoopback(guest.remoteAddress) ? '' : (guest.remoteAddress ?? '')
    const count = this.#byAddress.get(address) ?? 0
    if (this.#all.size >= connections || (address !== '' && count >= ofOneAddress)) {
      guest.destroy()
      return false
    }
    this.#all.add(guest)
    this.#byAddress.set(address, count + 1)
    guest.once('close', () => this.#leave(guest, address))
    return true
  }

  /** Closes all connections. */
  close(): void {
    for (const guest of this.#all) guest.destroy()
  }

  #leave(guest: LimitedConnection, address: string): void {
    this.#all.delete(guest)
    const left = this.#byAddress.get(address)! - 1
    if (left === 0) this.#byAddress.delete(address)
    else this.#byAddress.set(address, left)
  }
}
