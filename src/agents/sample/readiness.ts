/** Whether the agent answers at all: it can be told to be busy for a while, and to be unavailable. */
import { existsSync } from 'node:fs'
import { PcpError } from '../../model/errors.ts'
import type { AgentEnv } from '../../pmda/define.ts'
import { rooted } from '../../sys/proc.ts'
import { of, type Rows } from './context.ts'

/** While this file exists every request is refused. */
const UNAVAILABLE = '/tmp/sample.unavail'
const LONGEST_SEC = 3600

/** The agent as a whole may be unavailable, or not ready for some seconds. */
export class Readiness {
  readonly #env: AgentEnv
  #seconds = 0
  #timer: NodeJS.Timeout | undefined

  constructor(env: AgentEnv) {
    this.#env = env
  }

  /** Refuses a request while the agent is not ready. The first one after a store makes it not ready. */
  check(): void {
    if (this.#seconds > 0) this.#sleep()
    if (this.#timer !== undefined) throw new PcpError('PM_ERR_PMDANOTREADY')
    if (existsSync(rooted(this.#env.root, UNAVAILABLE))) throw new PcpError('PM_ERR_AGAIN')
  }

  rows(): Rows {
    return {
      not_ready: {
        item: 56,
        ...of('32'),
        help: 'Seconds for which the agent shall not be ready, from the next request on',
        text: 'Whoever sends that request, and all others until the time is over, are told to try again.',
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
