/**
 * Collectors behind one DNS name: a headless service of Kubernetes has an address for each pod. Names of hosts are those that the collectors
 * report, so no access to the cluster's API is needed.
 */

import { lookup } from 'node:dns/promises'
import { withSignal } from '../../../base/with-signal.ts'
import { fileName } from '../../../discovery/host.ts'
import { PcpError } from '../../../model/errors.ts'
import { connect } from '../../../pmapi/connect.ts'
import type { Variables } from '../../../sys/config.ts'
import { MAX_HOSTS } from './environment.ts'
import type { FarmHost } from './farm-text.ts'

/** What the search needs; tests pass their own. */
export interface NodesIo {
  /** Returns all addresses of a name. */
  readonly addresses: (name: string) => Promise<readonly string[]>
  /** Returns the host name that a collector reports. */
  readonly hostname: (spec: string, signal: AbortSignal) => Promise<string>
  readonly say: (line: string) => void
}

/** Collectors asked for their names at the same time. */
const AT_ONCE = 16
/** Time for a collector to report its name. */
const ASK_MS = 5_000

/** Finds collectors by DNS and remembers the names of those found before. */
export class Nodes {
  readonly #name: string
  readonly #port: string
  readonly #io: NodesIo
  /** Host by specification; only addresses of the last look-up. */
  #known = new Map<string, FarmHost>()
  #lastProblem = ''

  /** @param nodes a DNS name with an optional port */
  constructor(nodes: string, port: number, io: NodesIo) {
    const [name = '', own] = nodes.split(/:(?=\d+$)/)
    this.#name = name
    this.#port = own ?? String(port)
    this.#io = io
  }

  /** Returns the collectors that are there now. If the look-up fails, those found before. */
  async find(signal: AbortSignal): Promise<readonly FarmHost[]> {
    let specs: readonly string[]
    try {
      const all = await this.#io.addresses(this.#name)
      specs = all.slice(0, MAX_HOSTS).map((address) => `${bracketed(address)}:${this.#port}`)
      this.#report(all.length > MAX_HOSTS ? `${all.length} addresses; only ${MAX_HOSTS} are recorded` : '')
    } catch (error) {
      this.#report(PcpError.from(error).message)
      return [...this.#known.values()]
    }
    const known = this.#known
    this.#known = new Map()
    const unknown: string[] = []
    for (const spec of specs) {
      const host = known.get(spec)
      if (host === undefined) unknown.push(spec)
      else this.#known.set(spec, host)
    }
    for (let i = 0; i < unknown.length && !signal.aborted; i += AT_ONCE)
      await Promise.all(unknown.slice(i, i + AT_ONCE).map((spec) => this.#ask(spec, signal)))
    return [...this.#known.values()]
  }

  /** A collector that does not answer is asked again at the next look-up. */
  async #ask(spec: string, signal: AbortSignal): Promise<void> {
    try {
      const name = await withSignal({ signals: [signal], timeoutMs: ASK_MS }, (limit) =>
        this.#io.hostname(spec, limit),
      )
      this.#known.set(spec, { spec, name: fileName(name) })
    } catch {
      // Pods that are still starting have an address too.
    }
  }

  #report(problem: string): void {
    if (problem !== '' && problem !== this.#lastProblem)
      this.#io.say(`PCP_TS_NODES=${this.#name}: ${problem}`)
    this.#lastProblem = problem
  }
}

function bracketed(address: string): string {
  return address.includes(':') ? `[${address}]` : address
}

/** Looks names up in DNS and asks collectors. */
export function networkNodes(env: Variables, say: (line: string) => void): NodesIo {
  return {
    addresses: async (name) => (await lookup(name, { all: true })).map(({ address }) => address).sort(),
    hostname: async (spec, signal) => {
      const context = await connect(spec, { env, signal })
      try {
        return await context.hostname({ signal })
      } finally {
        await context.close()
      }
    },
    say,
  }
}
