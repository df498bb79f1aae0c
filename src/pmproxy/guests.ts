/** Who is connected: how many there may be, of one other machine and altogether. docs/security.md */
import type { Socket } from 'node:net'
import { isLoopback } from '../net/loopback.ts'
import type { Limits } from './limits.ts'

/** What is looked at of a connection. */
export type Guest = Pick<Socket, 'remoteAddress' | 'destroy' | 'once'>

/** The connections of a server. */
export class Guests {
  readonly #limits: Pick<Limits, 'connections' | 'ofOneAddress'>
  readonly #all = new Set<Guest>()
  readonly #byAddress = new Map<string, number>()

  constructor(limits: Pick<Limits, 'connections' | 'ofOneAddress'>) {
    this.#limits = limits
  }

  /** Lets one in until it closes; one too many is closed. */
  admit(guest: Guest): boolean {
    const { connections, ofOneAddress } = this.#limits
    // What comes over loopback may be a forwarder that speaks for many.
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

  /** Closes all. */
  close(): void {
    for (const guest of this.#all) guest.destroy()
  }

  #leave(guest: Guest, address: string): void {
    this.#all.delete(guest)
    const left = this.#byAddress.get(address)! - 1
    if (left === 0) this.#byAddress.delete(address)
    else this.#byAddress.set(address, left)
  }
}
