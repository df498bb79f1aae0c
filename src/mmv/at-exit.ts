/** Runs callbacks when the process or thread exits, by itself, by process.exit, by an exception or by a signal. */
import { isMainThread } from 'node:worker_threads'

/** A callback for the end of the process. */
export interface ExitHandler {
  /** Called synchronously at the end. */
  end(): void
}

const endings = new Set<ExitHandler>()
/** Those to be called on signals too. */
const signalled = new Set<ExitHandler>()
/** Marks our listeners, also those of other copies of this module: a program may load the library as ESM and CommonJS. */
const MARK = Symbol.for('pcp-ts.at-exit')
const SIGNALS = ['SIGHUP', 'SIGINT', 'SIGTERM'] as const

/**
 * Calls `end` on exit, until `cancelAtExit`. With `bySignal` also when a signal ends the process. Because that needs a
 * listener, such signals no longer end a process whose event loop hangs.
 */
export function atExit(ending: ExitHandler, bySignal: boolean): void {
  if (endings.size === 0) process.on('exit', endAll)
  endings.add(ending)
  if (!bySignal || !isMainThread) return // threads get no signals
  if (signalled.size === 0) for (const signal of SIGNALS) process.on(signal, endBySignal)
  signalled.add(ending)
}

/** Cancels `atExit`. */
export function cancelAtExit(ending: ExitHandler): void {
  if (endings.delete(ending) && endings.size === 0) process.off('exit', endAll)
  if (signalled.delete(ending) && signalled.size === 0)
    for (const signal of SIGNALS) process.off(signal, endBySignal)
}

function endAll(): void {
  for (const ending of [...endings]) ending.end()
}

/** Without other listeners the signal keeps its default effect. */
const endBySignal = Object.assign(
  (signal: NodeJS.Signals): void => {
    // The application has its own listener; if it exits, 'exit' is emitted.
    if (process.listeners(signal).some((listener) => !(MARK in listener))) return
    endAll()
    for (const each of SIGNALS) process.off(each, endBySignal)
    process.kill(process.pid, signal)
  },
  { [MARK]: true },
)
