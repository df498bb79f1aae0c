/** Number of requests and replies, in total and by client. */

import { ALL_INSTANCES, type Profile } from '../../model/profile.ts'
import type { Ask } from '../../model/source.ts'
import type { MetricSpec, RequestKind } from '../../pmda/define.ts'
import { descOf, type Rows } from './context.ts'

interface Client {
  received: number
  sent: number
  profile: Profile
}

/** Counts per client, from the first request to the end of the client. */
export class Clients {
  readonly #clients = new Map<number, Client>()
  #received = 0
  #sent = 0
  #started = 0
  #ended = 0
  /** Most simultaneous clients, the size of a table that never shrinks. */
  #most = 0

  /** Counts a request. Requests about names are not counted; a new profile is a request without a reply. */
  count(kind: RequestKind, ask: Ask): void {
    const { client, profile } = ask.requester
    if (kind === 'names') return
    const counts = this.#clients.get(client) ?? this.#start(client, kind)
    if (profile !== counts.profile) {
      counts.profile = profile
      counts.received++
      this.#received++
    }
    counts.received++
    counts.sent++
    this.#received++
    this.#sent++
  }

  /** Forgets a disconnected client. */
  end(client: number): void {
    if (this.#clients.delete(client)) this.#ended++
  }

  rows(): Rows {
    return { ...this.#totalRows(), ...this.#clientRows(), ...this.#tableRows() }
  }

  #start(client: number, kind: RequestKind): Client {
    // A collector sends the profile before the first fetch, even the default one; a client in this process does not.
    const counts = { received: 0, sent: 0, profile: kind === 'fetch' ? NO_PROFILE : ALL_INSTANCES }
    this.#clients.set(client, counts)
    this.#started++
    this.#most = Math.max(this.#most, this.#clients.size)
    return counts
  }

  #totalRows(): Rows {
    const resetReceived = (): void => {
      this.#received = 0
      for (const counts of this.#clients.values()) counts.received = 0
    }
    const resetSent = (): void => {
      this.#sent = 0
      for (const counts of this.#clients.values()) counts.sent = 0
    }
    return {
      pdu: {
        item: 40,
        ...descOf('u64', 'counter', 'count'),
        help: 'Requests and replies together, of all clients',
        text: 'Storing any value resets it to 0.',
        value: () => this.#received + this.#sent,
        store: () => {
          resetReceived()
          resetSent()
        },
      },
      recv_pdu: {
        item: 41,
        ...descOf('u32', 'counter', 'count'),
        help: 'Requests of all clients; requests about names are not counted',
        text: 'Storing any value resets it to 0.',
        value: () => this.#received,
        store: resetReceived,
      },
      xmit_pdu: {
        item: 42,
        ...descOf('u32', 'counter', 'count'),
        help: 'Replies to all clients',
        text: 'Storing any value resets it to 0.',
        value: () => this.#sent,
        store: resetSent,
      },
    }
  }

  #clientRows(): Rows {
    const row = (item: number, help: string, value: (counts: Client) => number): MetricSpec => ({
      item,
      ...descOf('32', 'counter', 'count'),
      help,
      text: 'Each client sees a separate count.',
      value: (_, ask) => value(this.#clients.get(ask.requester.client)!),
    })
    return {
      'percontext.pdu': row(43, 'Requests and replies of the requesting client', (c) => c.received + c.sent),
      'percontext.recv_pdu': row(44, 'Requests of the requesting client', (c) => c.received),
      'percontext.xmit_pdu': row(45, 'Replies to the requesting client', (c) => c.sent),
    }
  }

  #tableRows(): Rows {
    const shape = descOf('32', 'instant', 'count')
    return {
      'percontext.control.ctx': {
        item: 122,
        ...shape,
        help: 'Largest number of simultaneous clients so far',
        value: () => this.#most,
      },
      'percontext.control.active': {
        item: 123,
        ...shape,
        help: 'Connected clients that have sent a request',
        value: () => this.#clients.size,
      },
      'percontext.control.start': {
        item: 124,
        ...shape,
        help: 'Clients that ever sent a request',
        value: () => this.#started,
      },
      'percontext.control.end': {
        item: 125,
        ...shape,
        help: 'Clients that disconnected',
        value: () => this.#ended,
      },
    }
  }
}

/** A profile different from that of any client. */
const NO_PROFILE: Profile = { includeByDefault: false, entries: new Map() }
