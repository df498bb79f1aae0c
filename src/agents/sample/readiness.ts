/** Readiness of the agent, which can be made busy for a while, or unavailable. */
import { existsSync } from 'node:fs'
import { PcpError } from '../../model/errors.ts'
import type { AgentEnv } from '../../pmda/define.ts'
import { rooted } from '../../sys/proc.ts'
import { descOf, type Rows } from './context.ts'

/** While this file exists all requests are refused. */
const UNAVAILABLE = '/tmp/sample.unavail'
const LONGEST_SEC = 3600

/** Refuses requests while the agent is unavailable or not ready. */
export class Readiness {
  readonly #env: AgentEnv
  #seconds = 0
  #timer: NodeJS.Timeout | undefined

  constructor(env: AgentEnv) {
    this.#env = env
  }

  /** Throws while the agent is not ready. The first request after a store makes it not ready. */
  check(): void {
    if (this.#seconds > 0) this.#sleep()
    if (this.#timer !== undefined) throw new PcpError('PM_ERR_PMDANOTREADY')
    if (existsSync(rooted(this.#env.root, UNAVAILABLE))) throw new PcpError('PM_ERR_AGAIN')
  }

  rows(): Rows {
    return {
      not_ready: {
        item: 56,
        ...descOf('32'),
        help: 'Seconds for which the agent is not ready, from the next request on',
        text: 'That request, and all others during this time, fail with "try again".',
        value: () => this.#seconds,
        store: (value) => {
          this.#seconds = Math.min(LONGEST_SEC, Number(value))
        },
      },
    }
  }

  close(): void {
    clearTimeout(this.#timer)
  }

  #sleep(): void {
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      this.#env.announce({ type: 'ready' })
    }, this.#seconds * 1000)
    this.#seconds = 0
    this.#env.announce({ type: 'notready' })
  }
}
