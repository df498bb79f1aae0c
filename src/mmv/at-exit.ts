/** What is done when the process or thread ends by itself, by process.exit or by an exception, or by a signal. */
import { isMainThread } from 'node:worker_threads'

/** One that wants to know. */
export interface Ending {
  /** The end: nothing may wait any more. */
  end(): void
}

const endings = new Set<Ending>()
/** Those among them that signals must not pass by. */
const signalled = new Set<Ending>()
/** Marks our listeners, also those of other copies of this module: a program may import and require the library. */
const MARK = Symbol.for('pcp-ts.at-exit')
const SIGNALS = ['SIGHUP', 'SIGINT', 'SIGTERM'] as const

/**
 * Calls `end` at the end, until `forgetEnding`. With `bySignal` also when a signal ends the process, which costs this: a
 * process that hangs is no longer ended by such a signal, as with every listener.
 */
export function atExit(ending: Ending, bySignal: boolean): void {
  if (endings.size === 0) process.on('exit', endAll)
  endings.add(ending)
  if (!bySignal || !isMainThread) return // threads get no signals
  if (signalled.size === 0) for (const signal of SIGNALS) process.on(signal, endBySignal)
  signalled.add(ending)
}

/** Nothing is called any more. */
export function forgetEnding(ending: Ending): void {
  if (endings.delete(ending) && endings.size === 0) process.off('exit', endAll)
  if (signalled.delete(ending) && signalled.size === 0)
    for (const signal of SIGNALS) process.off(signal, endBySignal)
}

function endAll(): void {
  for (const ending of [...endings]) ending.end()
}

/** Where nobody else listens the signal does what it would have done without us. */
const endBySignal = Object.assign(
  (signal: NodeJS.Signals): void => {
    // The application decides; when it ends, there is 'exit'.
    if (process.listeners(signal).some((listener) => !(MARK in listener))) return
    endAll()
    for (const each of SIGNALS) process.off(each, endBySignal)
    process.kill(process.pid, signal)
  },
  { [MARK]: true },
)
