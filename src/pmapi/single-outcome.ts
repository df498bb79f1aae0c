import { isError, type Outcome, PcpError } from '../model/errors.ts'

/** Returns the single outcome of a request about one item; throws if it is an error. `on` names the item in the message. */
export function singleOutcome<T>(outcomes: readonly Outcome<T>[], on?: string): T {
  const outcome = outcomes[0]
  if (outcome === undefined) throw new PcpError('PM_ERR_IPC', 'The source gave no answer')
  if (isError(outcome)) throw PcpError.fromStatus(outcome.status, on)
  return outcome
}
