/** Turns of the worker while it evaluates rules. */
import { PcpError } from '../../model/errors.ts'
import type { ReplayTurn } from '../../rules/replay.ts'

/** Milliseconds of evaluating rules after which the worker takes messages, and after which it gives up. */
const TURN_MS = 50
const MOST_TRIAL_MS = 30_000

/** Returns a turn that lets the worker take messages, and ends an evaluation that takes too long. */
export function workerTurn(): ReplayTurn {
  const deadline = performance.now() + MOST_TRIAL_MS
  let since = performance.now()
  return {
    shouldYield: () => performance.now() - since >= TURN_MS,
    yield: async () => {
      if (performance.now() > deadline)
        throw new PcpError(
          'PM_ERR_TIMEOUT',
          'Evaluating the rules takes too long; use a longer delta or a shorter window',
        )
      await new Promise((resolve) => setTimeout(resolve))
      since = performance.now()
    },
  }
}
