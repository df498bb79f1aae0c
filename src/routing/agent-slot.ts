/**
 * Lifecycle of one configured agent. pmcd(1), pmcd.agent.status
 *
 *     start ──► connected ◄──ready/notready──► notready
 *       ▲          │ lost                         │ lost
 *       └── start ─┴────────► failed ◄────────────┘
 */
import { withTimeout } from '../base/within.ts'
import { PcpError, statusOf } from '../model/errors.ts'
import type { MetricSource, SourceEvent } from '../model/source.ts'
import { waitFor } from '../net/wait.ts'
import type { Route } from './router.ts'

/** Name and configuration of an agent. */
export interface SlotOptions {
  /** Label: its name in logs and in `pmcd.agent.*`. */
  readonly name: string
  readonly domain: number
  readonly kind: 'dso' | 'worker' | 'socket' | 'pipe'
  /** Text in the log's table of agents. Two agents of one domain with the same text are the same agent. */
  readonly parameters: string
  /** Starts in the not-ready state. */
  readonly startsNotReady?: boolean
}

/** Opens the agent of a slot. */
export interface SlotOpener {
  /** Opens the agent; rejects with the reason if it cannot. Aborting `signal` kills any process started for it. */
  readonly open: (signal: AbortSignal) => Promise<OpenedAgent>
  /** Milliseconds to wait for an agent's module, or for the first PDU of an agent in its own process. */
  readonly credsTimeoutMs: () => number
}

/** An open agent. */
export interface OpenedAgent {
  readonly source: MetricSource
  /** Process id of an agent in its own process. */
  readonly pid?: number
  /** Sends the agent an attribute (PCP_ATTR_*) of a client. */
  readonly attribute?: (client: number, key: number, value: string) => void
  /** Resolves to the exit status when the agent's process has ended. */
  readonly exited?: Promise<ExitStatus>
  /** File descriptors of the connection: the agent's input, which we write to, and its output. */
  readonly fds?: readonly [input: number, output: number]
}

/** Exit status of a process; one of the two is 0. */
export interface ExitStatus {
  readonly code: number
  readonly signal: number
}

/** State of an agent. */
export type AgentState = 'connected' | 'notready' | 'failed'

/** Receives the events of a slot. */
export interface SlotEvents {
  /** The agent was opened and has not received a request yet. */
  started(slot: AgentSlot): void
  /** The agent reported PMCD_* changes. */
  changed(slot: AgentSlot, changes: number): void
  /** The agent stopped answering; `reason` is for the log and may take a moment. */
  lost(slot: AgentSlot, reason: Promise<string>): void
  /** The agent has become ready. */
  ready(slot: AgentSlot): void
}

/** pmcd.agent.status bits of a lost agent: it exited, never started, or broke the protocol. */
const STATUS_EXITED = 2
const STATUS_NEVER_STARTED = 4
const STATUS_PROTOCOL = 8
/** How long the log line about a lost agent waits for its exit status. */
const EXIT_WAIT_MS = 2000
/** Added to the start timeout: for the agent to listen on its socket, and for a previous thread to end. */
const PREPARING_MS = 8000
/** Upper bound on closing an agent: five seconds for it to exit, then those for killing it. */
const LONGEST_END_MS = 10_000

const AGAIN: number = statusOf('PM_ERR_AGAIN')
const NOAGENT: number = statusOf('PM_ERR_NOAGENT')
const FENCED: number = statusOf('PM_ERR_PMDAFENCED')
const NOTREADY: number = statusOf('PM_ERR_PMDANOTREADY')

/** Errors after which the next reply of an agent in its own process might belong to an earlier request. */
const FATAL: ReadonlySet<string> = new Set([
  'PM_ERR_IPC',
  'PM_ERR_TIMEOUT',
  'PM_ERR_EOF',
  'EPIPE',
  'ECONNRESET',
])

/** Timeouts of a start; a retry may find the module loaded or the machine less busy. */
const LATE: ReadonlySet<string> = new Set(['PM_ERR_TIMEOUT', 'EBUSY'])

/** Formats an exit status for the log. */
export function exitText({ code, signal }: ExitStatus): string {
  return signal === 0 ? `exit(${code})` : `signal(${signal})`
}

/** A configured agent, open or not. */
export class AgentSlot implements Route {
  readonly options: SlotOptions
  readonly #listener: SlotEvents
  readonly #opener: SlotOpener
  #state: AgentState = 'failed'
  #status = STATUS_NEVER_STARTED
  #opened: OpenedAgent | undefined
  #fds: OpenedAgent['fds']
  #unsubscribe: (() => void) | undefined
  /** Aborts the start in progress. */
  #starting: AbortController | undefined
  #hasStartedLate = false
  #failure = ''
  /** Resolves when a lost agent has been closed. */
  #ending: Promise<void> = Promise.resolve()
  /** Requests without a reply; if the agent is lost meanwhile, that is a protocol failure. */
  #outstanding = 0
  /** Fencing lasts until it is lifted or the agent is lost. */
  isFenced = false

  constructor(options: SlotOptions, opener: SlotOpener, listener: SlotEvents) {
    this.options = options
    this.#opener = opener
    this.#listener = listener
  }

  get domain(): number {
    return this.options.domain
  }

  get state(): AgentState {
    return this.#state
  }

  /** Value of pmcd.agent.status. */
  get status(): number {
    return this.#state === 'connected' ? 0 : this.#state === 'notready' ? 1 : this.#status
  }

  /** Reason of the last failure to start, or of the last loss; '' if there was none. */
  get failure(): string {
    return this.#failure
  }

  /** File descriptors of the connection to an agent in its own process, kept after the agent is lost. */
  get fds(): OpenedAgent['fds'] {
    return this.#fds
  }

  /** Process id of an agent in its own process. */
  get pid(): number | undefined {
    return this.#opened?.pid
  }

  /** Source of the open agent; undefined otherwise. */
  get source(): MetricSource | undefined {
    return this.#opened?.source
  }

  /** Sends an agent in its own process an attribute of a client. */
  attribute(client: number, key: number, value: string): void {
    this.#opened?.attribute?.(client, key, value)
  }

  /**
   * Notifies the agent that a client has left, once it is ready. Otherwise the next client in that slot would inherit the
   * attributes of the previous one.
   */
  endClient(client: number): void {
    this.#opened?.source.endClient?.(client)
  }

  /** Status that requests to this agent's domain are rejected with, or 0. */
  get refusal(): number {
    if (this.#state === 'connected') return this.isFenced ? FENCED : 0
    return this.#state === 'notready' ? AGAIN : NOAGENT
  }

  /**
   * Opens the agent; may be called again after a failure. Rejects with the reason if it cannot be opened, with
   * PM_ERR_TIMEOUT when that takes too long, and with ECANCELED when it is closed meanwhile.
   */
  async start(): Promise<void> {
    const starting = new AbortController()
    this.#starting = starting
    let opened: OpenedAgent
    try {
      await this.#ending
      opened = await this.#open(starting)
      this.#hasStartedLate = false
    } catch (error) {
      const { code, message } = PcpError.from(error)
      this.#hasStartedLate = LATE.has(code)
      this.#failure = message
      throw error
    } finally {
      if (this.#starting === starting) this.#starting = undefined
    }
    this.#opened = opened
    this.#fds = opened.fds
    this.#state = this.options.startsNotReady === true ? 'notready' : 'connected'
    this.#status = STATUS_EXITED
    this.#unsubscribe = opened.source.subscribe((event) => this.#onEvent(event, opened))
    this.#listener.started(this)
  }

  /**
   * Sends a request to the agent. Rejects with PM_ERR_NOAGENT, PM_ERR_AGAIN or PM_ERR_PMDAFENCED while the agent is
   * unavailable, otherwise with the agent's error. An error that may misalign later replies closes the agent.
   */
  request<T>(question: (source: MetricSource) => Promise<T>): Promise<T> {
    const refusal = this.refusal
    if (refusal !== 0) return Promise.reject(PcpError.fromStatus(refusal, `agent "${this.options.name}"`))
    const opened = this.#opened!
    this.#outstanding++
    return question(opened.source).then(
      (answer) => {
        this.#outstanding--
        return answer
      },
      (error: unknown) => {
        const judged = this.#mapError(error, opened)
        this.#outstanding--
        throw judged
      },
    )
  }

  /** True if the agent failed in a way that a restart may fix. */
  get shouldRestart(): boolean {
    return this.#state === 'failed' && (this.#status !== STATUS_NEVER_STARTED || this.#hasStartedLate)
  }

  /** Closes the agent. Resolves to the exit status of its process if it has one that ended. */
  async close(): Promise<ExitStatus | undefined> {
    const opened = this.#opened
    this.#starting?.abort()
    this.#detach()
    await this.#ending
    if (opened !== undefined) await withTimeout(LONGEST_END_MS, opened.source.close())
    return opened?.exited === undefined ? undefined : withTimeout(EXIT_WAIT_MS, opened.exited)
  }

  /** Opens the agent within the time limit; closes it again if it opens later. */
  async #open(starting: AbortController): Promise<OpenedAgent> {
    const { name, kind } = this.options
    const { signal } = starting
    const ms = this.#opener.credsTimeoutMs() + (kind === 'dso' ? 0 : PREPARING_MS)
    let isOver = false
    try {
      return await waitFor<OpenedAgent>(
        {
          ms,
          createTimeoutError: () =>
            new PcpError('PM_ERR_TIMEOUT', `Agent "${name}" did not open within ${ms} ms`),
          signal,
          what: `Starting agent "${name}"`,
        },
        (end) => {
          this.#opener.open(signal).then(
            (opened) => {
              if (isOver) void opened.source.close().catch(() => {})
              else end(opened)
            },
            (error: unknown) => end(PcpError.from(error)),
          )
          return () => {
            isOver = true
          }
        },
      )
    } catch (error) {
      starting.abort()
      throw error
    }
  }

  #onEvent(event: SourceEvent, opened: OpenedAgent): void {
    if (opened !== this.#opened) return
    switch (event.type) {
      case 'changed':
        this.#listener.changed(this, event.changes)
        break
      case 'lost':
        this.#lose(opened, this.#outstanding === 0 ? STATUS_EXITED : STATUS_PROTOCOL)
        break
      case 'notready':
        if (this.#state === 'connected') this.#state = 'notready'
        break
      case 'ready':
      case 'back':
        if (this.#state !== 'notready') break
        this.#state = 'connected'
        this.#listener.ready(this)
    }
  }

  /** Maps an agent's error to the client's error, and updates the agent's state. */
  #mapError(error: unknown, opened: OpenedAgent): PcpError {
    const cause = PcpError.from(error, `agent "${this.options.name}"`)
    if (cause.status === NOTREADY) {
      if (opened === this.#opened && this.#state === 'connected') this.#state = 'notready'
      return new PcpError('PM_ERR_AGAIN', `Agent "${this.options.name}" is not ready yet`, { cause })
    }
    if (this.options.kind !== 'dso' && FATAL.has(cause.code)) this.#lose(opened, STATUS_PROTOCOL)
    // A status that is not negative would look like success; agents must not send one.
    return cause.status < 0 ? cause : new PcpError('PM_ERR_GENERIC', undefined, { cause })
  }

  #lose(opened: OpenedAgent, how: number): void {
    if (opened !== this.#opened) return
    this.#detach()
    this.#status = how
    // The agent is lost already; errors of closing it do not matter.
    this.#ending = withTimeout(LONGEST_END_MS, opened.source.close()).then(
      () => {},
      () => {},
    )
    const place = this.#fds === undefined ? '' : ` for fd=${this.#fds[0]}`
    const reason = how === STATUS_EXITED ? 'terminated' : `protocol failure${place}`
    this.#failure = reason
    this.#listener.lost(
      this,
      opened.exited === undefined ? Promise.resolve(reason) : this.#explain(opened.exited, reason),
    )
  }

  /** Returns the reason, with the exit status if the process ends soon enough. */
  async #explain(exited: NonNullable<OpenedAgent['exited']>, reason: string): Promise<string> {
    const ended = await withTimeout(EXIT_WAIT_MS, exited)
    if (ended === undefined) return reason
    const text = `${reason}, ${exitText(ended)}`
    if (this.#failure === reason) this.#failure = text
    if (this.#state === 'failed') this.#status |= (ended.code << 8) | (ended.signal << 16)
    return text
  }

  #detach(): void {
    this.#unsubscribe?.()
    this.#unsubscribe = undefined
    this.#opened = undefined
    this.#state = 'failed'
    this.#status = STATUS_EXITED
    this.isFenced = false
  }
}
