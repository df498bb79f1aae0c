/** Questions about one item, asked of sources that answer for many. */
import { isError, type Outcome, PcpError } from '../model/errors.ts'

/** The one outcome of a question about one item, thrown when it is an error. `on` says what it was about. */
export function only<T>(outcomes: readonly Outcome<T>[], on?: string): T {
  const outcome = outcomes[0]
  if (outcome === undefined) throw new PcpError('PM_ERR_IPC', 'The source gave no answer')
  if (isError(outcome)) throw PcpError.fromStatus(outcome.status, on)
  return outcome
}
