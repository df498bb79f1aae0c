/** Signals of a pmlogger process. pmlogger(1) */
import { constants } from 'node:os'

/** Receives signals. */
export interface SignalListener {
  /** SIGHUP: begin a new volume. */
  newVolume(): void
  /** SIGUSR2: begin a new archive. */
  newArchive(): void
  /** Any other signal that shuts the process down; `what` names it: `Caught signal 15`. */
  end(what: string): void
}

const ENDS = ['SIGINT', 'SIGTERM', 'SIGUSR1', 'SIGALRM', 'SIGVTALRM', 'SIGPROF'] as const

/**
 * Listens immediately and queues each kind of signal once until there is a listener. SIGINT and SIGTERM also abort the AbortSignal;
 * an abort without either of them ends the process too.
 */
export class ProcessSignals {
  readonly #handlers = new Map<NodeJS.Signals, () => void>()
  readonly #signal: AbortSignal
  readonly #onAbort = (): void => {
    // The signal's own handler runs at the same time and knows its name, so it goes first.
    setImmediate(() => this.#tell('end', (listener) => listener.end('Shutting down')))
  }
  readonly #waiting = new Map<string, (listener: SignalListener) => void>()
  #listener: SignalListener | undefined

  constructor(signal: AbortSignal) {
    this.#signal = signal
    this.#on('SIGHUP', (listener) => listener.newVolume())
    this.#on('SIGUSR2', (listener) => listener.newArchive())
    for (const name of ENDS)
      this.#on(name, (listener) => listener.end(`Caught signal ${constants.signals[name]}`))
    if (signal.aborted) this.#onAbort()
    else signal.addEventListener('abort', this.#onAbort, { once: true })
  }

  /** Sets the listener and delivers queued signals. */
  listen(listener: SignalListener): void {
    this.#listener = listener
    const waiting = [...this.#waiting.values()]
    this.#waiting.clear()
    for (const tell of waiting) tell(listener)
  }

  close(): void {
    for (const [name, handler] of this.#handlers) process.off(name, handler)
    this.#signal.removeEventListener('abort', this.#onAbort)
  }

  #on(name: NodeJS.Signals, tell: (listener: SignalListener) => void): void {
    const handler = (): void => this.#tell(name, tell)
    this.#handlers.set(name, handler)
    process.on(name, handler)
  }

  #tell(kind: string, tell: (listener: SignalListener) => void): void {
    if (this.#listener === undefined) this.#waiting.set(kind, tell)
    else tell(this.#listener)
  }
}
