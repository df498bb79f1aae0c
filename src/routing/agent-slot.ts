/**
 * One configured agent: opened, asked, lost, opened again. pmcd(1), pmcd.agent.status
 *
 *     start ──► connected ◄──ready/notready──► notready
 *       ▲          │ lost                         │ lost
 *       └── start ─┴────────► failed ◄────────────┘
 */
import { within } from '../base/within.ts'
import { PcpError, statusOf } from '../model/errors.ts'
import type { MetricSource, SourceEvent } from '../model/source.ts'
import { wait } from '../net/wait.ts'
import type { Route } from './router.ts'

/** What an agent is called and how it is configured. */
export interface SlotOptions {
  /** Label: its name in logs and in `pmcd.agent.*`. */
  readonly name: string
  readonly domain: number
  readonly kind: 'dso' | 'worker' | 'socket' | 'pipe'
  /** As the log's table of agents shows it. Two agents of one domain with the same text are the same agent. */
  readonly parameters: string
  /** Starts in the not-ready state. */
  readonly startsNotReady?: boolean
}

/** How a slot opens its agent. */
export interface SlotOpener {
  /** Opens the agent; rejects with why it cannot be opened. Aborting `signal` kills whatever was started for it. */
  readonly open: (signal: AbortSignal) => Promise<OpenedAgent>
  /** Milliseconds to wait for an agent's module, or for the first PDU of an agent in its own process. */
  readonly credsTimeoutMs: () => number
}

/** An agent that is open. */
export interface OpenedAgent {
  readonly source: MetricSource
  /** Process id of an agent in its own process. */
  readonly pid?: number
  /** Sends the agent an attribute of a client: PCP_ATTR_* and a text. */
  readonly attribute?: (client: number, key: number, value: string) => void
  /** Resolves to how the agent's process ended, once it has. */
  readonly exited?: Promise<ExitStatus>
  /** Descriptors of the connection: the agent's input, which we write to, and its output. */
  readonly fds?: readonly [input: number, output: number]
}

/** How a process ended: one of the two is 0. */
export interface ExitStatus {
  readonly code: number
  readonly signal: number
}

/** What an agent is doing. */
export type AgentState = 'connected' | 'notready' | 'failed'

/** Whom an agent tells what happens to it. */
export interface SlotListener {
  /** It is open and has not been asked yet. */
  started(slot: AgentSlot): void
  /** It announced PMCD_* changes. */
  changed(slot: AgentSlot, changes: number): void
  /** It stopped answering; `reason` is for the log and may take a moment. */
  lost(slot: AgentSlot, reason: Promise<string>): void
  /** It was not ready and is now. */
  ready(slot: AgentSlot): void
}

/** pmcd.agent.status bits of an agent that is gone: it ended, never started, or broke the protocol. */
const STATUS_EXITED = 2
const STATUS_NEVER_STARTED = 4
const STATUS_PROTOCOL = 8
/** How long the log line about an agent that is gone waits for its exit status. */
const EXIT_WAIT_MS = 2000
/** Added to the time for the greeting: a socket to listen on, the end of an earlier thread. */
const PREPARING_MS = 8000
/** Longest end of an agent: its own five seconds, and those of killing it. */
const LONGEST_END_MS = 10_000

const AGAIN: number = statusOf('PM_ERR_AGAIN')
const NOAGENT: number = statusOf('PM_ERR_NOAGENT')
const FENCED: number = statusOf('PM_ERR_PMDAFENCED')
const NOTREADY: number = statusOf('PM_ERR_PMDANOTREADY')

/** Errors after which the next reply of an agent in its own process could be the answer to an earlier request. */
const FATAL: ReadonlySet<string> = new Set([
  'PM_ERR_IPC',
  'PM_ERR_TIMEOUT',
  'PM_ERR_EOF',
  'EPIPE',
  'ECONNRESET',
])

/** Errors of a start that took too long: the next one may find a module loaded, or a less busy machine. */
const LATE: ReadonlySet<string> = new Set(['PM_ERR_TIMEOUT', 'EBUSY'])

/** How a process ended, for the log. */
export function exitText({ code, signal }: ExitStatus): string {
  return signal === 0 ? `exit(${code})` : `signal(${signal})`
}

/** An agent with a lifetime of its own. */
export class AgentSlot implements Route {
  readonly options: SlotOptions
  readonly #listener: SlotListener
  readonly #opener: SlotOpener
  #state: AgentState = 'failed'
  #status = STATUS_NEVER_STARTED
  #opened: OpenedAgent | undefined
  #fds: OpenedAgent['fds']
  #unsubscribe: (() => void) | undefined
  /** Aborts the start that is under way. */
  #starting: AbortController | undefined
  #hasStartedLate = false
  /** The end of an agent that was lost, which nobody asked to end. */
  #ending: Promise<void> = Promise.resolve()
  /** Questions that have no answer yet: losing the agent then is its mistake. */
  #outstanding = 0
  /** Fencing lasts until it is lifted or the agent goes. */
  isFenced = false

  constructor(options: SlotOptions, opener: SlotOpener, listener: SlotListener) {
    this.options = options
    this.#opener = opener
    this.#listener = listener
  }

  /** Domain of its metrics. */
  get domain(): number {
    return this.options.domain
  }

  /** What it is doing. */
  get state(): AgentState {
    return this.#state
  }

  /** The value of pmcd.agent.status. */
  get status(): number {
    return this.#state === 'connected' ? 0 : this.#state === 'notready' ? 1 : this.#status
  }

  /** Descriptors of the connection to an agent in a process of its own, also when it has just gone. */
  get fds(): OpenedAgent['fds'] {
    return this.#fds
  }

  /** Process id of an agent in a process of its own. */
  get pid(): number | undefined {
    return this.#opened?.pid
  }

  /** What answers, while there is something that does. */
  get source(): MetricSource | undefined {
    return this.#opened?.source
  }

  /** Tells an agent in its own process who a client is. */
  attribute(client: number, key: number, value: string): void {
    this.#opened?.attribute?.(client, key, value)
  }

  /**
   * Tells the agent that a client is gone. One that is not ready hears it as well, when it is: otherwise the next client
   * in that slot would have for it the attributes of the one before.
   */
  endClient(client: number): void {
    this.#opened?.source.endClient?.(client)
  }

  /** Status every question about this agent's domain gets, or 0 when it may be asked. */
  get refusal(): number {
    if (this.#state === 'connected') return this.isFenced ? FENCED : 0
    return this.#state === 'notready' ? AGAIN : NOAGENT
  }

  /**
   * Opens the agent. Rejects with why it cannot be opened: with PM_ERR_TIMEOUT when that takes too long, and with
   * ECANCELED when it is closed meanwhile. It may be tried again.
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
      this.#hasStartedLate = LATE.has(PcpError.from(error).code)
      throw error
    } finally {
      if (this.#starting === starting) this.#starting = undefined
    }
    this.#opened = opened
    this.#fds = opened.fds
    this.#state = this.options.startsNotReady === true ? 'notready' : 'connected'
    this.#status = STATUS_EXITED
    this.#unsubscribe = opened.source.subscribe((event) => this.#hear(event, opened))
    this.#listener.started(this)
  }

  /**
   * Asks the agent. Rejects with PM_ERR_NOAGENT, PM_ERR_AGAIN or PM_ERR_PMDAFENCED when it may not be asked, otherwise
   * with the agent's own error; one that leaves the conversation in doubt ends it.
   */
  ask<T>(question: (source: MetricSource) => Promise<T>): Promise<T> {
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
        const judged = this.#judge(error, opened)
        this.#outstanding--
        throw judged
      },
    )
  }

  /** Is it gone by a failure that may pass, and not by a state of the configuration? */
  get isToRestart(): boolean {
    return this.#state === 'failed' && (this.#status !== STATUS_NEVER_STARTED || this.#hasStartedLate)
  }

  /** Ends the agent: it is not wanted any more. Resolves to how its process ended when it has one that did end. */
  async close(): Promise<ExitStatus | undefined> {
    const opened = this.#opened
    this.#starting?.abort()
    this.#detach()
    await this.#ending
    if (opened !== undefined) await within(LONGEST_END_MS, opened.source.close())
    return opened?.exited === undefined ? undefined : within(EXIT_WAIT_MS, opened.exited)
  }

  /** Opens the agent within its time. One that is opened too late is closed again. */
  async #open(starting: AbortController): Promise<OpenedAgent> {
    const { name, kind } = this.options
    const { signal } = starting
    const ms = this.#opener.credsTimeoutMs() + (kind === 'dso' ? 0 : PREPARING_MS)
    let isOver = false
    try {
      return await wait<OpenedAgent>(
        {
          ms,
          late: () => new PcpError('PM_ERR_TIMEOUT', `Agent "${name}" is not open within ${ms} ms`),
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

  #hear(event: SourceEvent, opened: OpenedAgent): void {
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

  /** What the asker gets for an error of the agent, and what the error does to the agent. */
  #judge(error: unknown, opened: OpenedAgent): PcpError {
    const cause = PcpError.from(error, `agent "${this.options.name}"`)
    if (cause.status === NOTREADY) {
      if (opened === this.#opened && this.#state === 'connected') this.#state = 'notready'
      return new PcpError('PM_ERR_AGAIN', `Agent "${this.options.name}" is not ready yet`, { cause })
    }
    if (this.options.kind !== 'dso' && FATAL.has(cause.code)) this.#lose(opened, STATUS_PROTOCOL)
    // A status that is not negative would read as success: no agent may send one.
    return cause.status < 0 ? cause : new PcpError('PM_ERR_GENERIC', undefined, { cause })
  }

  #lose(opened: OpenedAgent, how: number): void {
    if (opened !== this.#opened) return
    this.#detach()
    this.#status = how
    // It is gone already: there is nothing left to report.
    this.#ending = within(LONGEST_END_MS, opened.source.close()).then(
      () => {},
      () => {},
    )
    const place = this.#fds === undefined ? '' : ` for fd=${this.#fds[0]}`
    const reason = how === STATUS_EXITED ? 'terminated' : `protocol failure${place}`
    this.#listener.lost(
      this,
      opened.exited === undefined ? Promise.resolve(reason) : this.#explain(opened.exited, reason),
    )
  }

  /** The reason together with the exit status, when the process ends soon enough. */
  async #explain(exited: NonNullable<OpenedAgent['exited']>, reason: string): Promise<string> {
    const ended = await within(EXIT_WAIT_MS, exited)
    if (ended === undefined) return reason
    if (this.#state === 'failed') this.#status |= (ended.code << 8) | (ended.signal << 16)
    return `${reason}, ${exitText(ended)}`
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
