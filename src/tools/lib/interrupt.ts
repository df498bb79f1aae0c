/** Interruption of a command by a signal. */
import { PcpError } from '../../model/errors.ts'

/** Returns the reason to abort `ToolIo.signal` with. */
export function interruption(by: NodeJS.Signals): PcpError {
  return new PcpError('ECANCELED', `Interrupted by ${by}`, { cause: by })
}

/** Returns the signal that aborted a command; undefined if it was not aborted. */
export function interruptedBy({ reason }: AbortSignal): NodeJS.Signals | undefined {
  return reason instanceof PcpError ? (reason.cause as NodeJS.Signals | undefined) : undefined
}

/** Returns whether the user pressed Ctrl-C: SIGINT, not SIGTERM. */
export function isCtrlC(signal: AbortSignal): boolean {
  return interruptedBy(signal) === 'SIGINT'
}
