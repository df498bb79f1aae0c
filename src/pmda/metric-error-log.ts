/** Logs failing metrics: each distinct message once, not once per fetch. */
import { debug, trace } from '../model/debug.ts'
import { type ErrorCode, PcpError } from '../model/errors.ts'
import type { AgentEnv } from './define.ts'

/** Ordinary reasons for having no value, which are not logged. */
const QUIET: readonly ErrorCode[] = [
  'PM_ERR_VALUE',
  'PM_ERR_APPVERSION',
  'PM_ERR_PERMISSION',
  'PM_ERR_AGAIN',
  'PM_ERR_NYI',
]

/** Most messages remembered; then the set is cleared, so a log may repeat messages but is never flooded. */
const MOST = 1000

/** Logs each distinct message once. */
export class MetricErrorLog {
  readonly #log: AgentEnv['log']
  readonly #said = new Set<string>()

  constructor(log: AgentEnv['log']) {
    this.#log = log
  }

  /** Reports why a metric, or some of its instances, has no value. */
  failure(metric: string, error: PcpError): void {
    if (debug.libpmda) trace('libpmda', `${metric}: ${error.message}`)
    if (!QUIET.includes(error.code)) this.#once(`${metric}: ${error.message}`)
  }

  /** Reports an exception of a callback. Anything but a PcpError is a defect, logged with its stack. */
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
