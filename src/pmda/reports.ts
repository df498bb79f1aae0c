/** What an agent's log hears about failing metrics: each thing once, not once a fetch. */
import { debug, trace } from '../model/debug.ts'
import { type ErrorCode, PcpError } from '../model/errors.ts'
import type { AgentEnv } from './define.ts'

/** Ordinary ways of having no value: nothing for a log. */
const QUIET: readonly ErrorCode[] = [
  'PM_ERR_VALUE',
  'PM_ERR_APPVERSION',
  'PM_ERR_PERMISSION',
  'PM_ERR_AGAIN',
  'PM_ERR_NYI',
]

/** Messages remembered; when there are more the memory starts anew, so a log may repeat but never floods. */
const MOST = 1000

/** Writes each distinct message once. */
export class Reports {
  readonly #log: AgentEnv['log']
  readonly #said = new Set<string>()

  constructor(log: AgentEnv['log']) {
    this.#log = log
  }

  /** Why a metric, or some instances of it, have no value. */
  failure(metric: string, error: PcpError): void {
    if (debug.libpmda) trace('libpmda', `${metric}: ${error.message}`)
    if (!QUIET.includes(error.code)) this.#once(`${metric}: ${error.message}`)
  }

  /** An exception that a callback of the agent threw. What is not a PcpError is a defect: the log shows where it is. */
  thrown(metric: string, thrown: unknown): PcpError {
    const error = PcpError.from(thrown)
    const isDefect = !(thrown instanceof PcpError) && error.code === 'PM_ERR_GENERIC'
    if (isDefect && thrown instanceof Error && thrown.stack !== undefined)
      this.#once(`${metric}: ${thrown.stack}`)
    else this.failure(metric, error)
    return error
  }

  #once(text: string): void {
    if (this.#said.has(text)) return
    if (this.#said.size >= MOST) this.#said.clear()
    this.#said.add(text)
    this.#log('error', text)
  }
}
