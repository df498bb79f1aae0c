/** Time limit of requests that read much of an archive. docs/explanation/security.md */
import { PcpError } from '../../model/errors.ts'

/** Time limit of a response, ms; less than that of the thread, whose end would discard what it has read. */
const MOST_MS = 20_000

/**
 * Returns a check to call after each yield: it throws the reason of an aborted signal, as of a client that has gone, and
 * PM_ERR_TIMEOUT with `advice` after 20 s. `now` is in milliseconds.
 */
export function timeLimit(
  signal: AbortSignal,
  advice: string,
  now: () => number = () => performance.now(),
): () => void {
  const deadline = now() + MOST_MS
  return () => {
    signal.throwIfAborted()
    if (now() > deadline) throw new PcpError('PM_ERR_TIMEOUT', advice)
  }
}
