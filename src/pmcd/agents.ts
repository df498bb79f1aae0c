/** All agents of a collector: starting, restarting, and replacement after configuration changes. pmcd(1) */

import { loggableMessage } from '../base/printable.ts'
import { withTimeout } from '../base/within.ts'
import { debug, trace } from '../model/debug.ts'
import { PcpError } from '../model/errors.ts'
import { ANONYMOUS, type MetricSource } from '../model/source.ts'
import { PMCD_ADD_AGENT, PMCD_DROP_AGENT, PMCD_NAMES_CHANGE, PMCD_RESTART_AGENT } from '../model/values.ts'
import type { NamedId } from '../pmda/names.ts'
import type { AgentSource } from '../pmda/open-agent.ts'
import { Pmns } from '../pmns/tree.ts'
import { AgentSlot, exitText, type OpenedAgent, type SlotOptions } from '../routing/agent-slot.ts'
import type { AgentOpenEnv, AgentOptions } from './options.ts'

/** Shortest time between automatic restarts, in milliseconds. */
const RESTART_INTERVAL_MS = 60_000
/** Time limit for all names of one agent, so that a slow agent cannot delay the others forever. */
const NAMES_MS = 10_000

/** The collector, as its agents need it. */
export interface AgentsHost {
  readonly env: AgentOpenEnv
  readonly restartsAgents: boolean
  /** Shortest time between automatic restarts in milliseconds; default 60 000. */
  readonly restartIntervalMs?: number
  readonly clock: () => number
  /** Sends PMCD_* changes to all clients. */
  readonly changed: (changes: number) => void
  /** An agent was opened and needs the attributes of the clients. */
  readonly started: (slot: AgentSlot) => void
  /** Agents were added or lost: names and routes may have changed. */
  readonly rerouted: () => Promise<void>
  /** Called when agents are started or restarted. */
  readonly roundStarted: () => void
}

/** The configured agents, in configuration order. */
export class Agents {
  readonly #host: AgentsHost
  #slots: readonly AgentSlot[] = []
  #lastRound = Number.NEGATIVE_INFINITY
  #timer: NodeJS.Timeout | undefined
  /** Rounds run in sequence; resolves when the last one has finished. */
  #round: Promise<void> = Promise.resolve()
  #isRerouteDue = false
  #isClosed = false

  constructor(host: AgentsHost) {
    this.#host = host
  }

  /** One slot per agent, connected or not. */
  get slots(): readonly AgentSlot[] {
    return this.#slots
  }

  start(options: readonly AgentOptions[]): Promise<void> {
    return this.#inTurn(async () => {
      this.#slots = options.map((each) => this.#newSlot(each))
      await this.#startSlots(this.#slots)
      await this.#host.rerouted()
    })
  }

  /** Restarts lost agents. */
  restart(): Promise<void> {
    return this.#inTurn(async () => {
      const deceased = this.#slots.filter((slot) => slot.state === 'failed')
      const names = deceased.map((slot) => ` "${slot.options.name}"`).join('')
      this.#host.env.log.line('Restarting any deceased agents:')
      this.#host.env.log.line(deceased.length === 0 ? '    (no agents required restarting)' : `   ${names}`)
      await this.#startRound(deceased, PMCD_RESTART_AGENT)
    })
  }

  /** Keeps connected agents whose line did not change, closes others, starts new and lost ones. */
  replace(options: readonly AgentOptions[]): Promise<void> {
    return this.#inTurn(async () => {
      const old = new Set(this.#slots)
      this.#slots = options.map((each) => {
        const same = this.#slots.find((slot) => isSame(slot.options, each))
        if (same !== undefined) old.delete(same)
        return same ?? this.#newSlot(each)
      })
      for (const slot of old) {
        if (slot.state !== 'failed') this.#host.changed(PMCD_DROP_AGENT)
        await this.#end(slot, 'unconfigured')
      }
      await this.#startRound(
        this.#slots.filter((slot) => slot.state === 'failed'),
        0,
      )
    })
  }

  /** Returns a name space of the names that agents report; used without a PMNS file. */
  async names(): Promise<Pmns> {
    const pmns = new Pmns()
    const slots = this.#slots
    const lists = await Promise.all(slots.map((slot) => this.#namesOf(slot)))
    lists.forEach((names, i) => {
      for (const [name, id] of names) addName(pmns, name, id, slots[i]!, this.#host.env)
    })
    return pmns
  }

  /** Returns the names of one agent; empty, with a warning in the log, if the agent fails. */
  async #namesOf(slot: AgentSlot): Promise<Iterable<NamedId>> {
    const { source } = slot
    if (source === undefined || slot.refusal !== 0) return []
    try {
      const names = await withTimeout(NAMES_MS, namesOf(source))
      if (names !== undefined) return names
      this.#scheduleRestart() // which reads all names again
      throw new PcpError('PM_ERR_TIMEOUT', `no complete list within ${NAMES_MS} ms`)
    } catch (error) {
      // Agents that do not report names need a PMNS file.
      const { message } = PcpError.from(error)
      this.#host.env.log.notice(
        'warning',
        `Agent "${slot.options.name}" does not report its names: ${message}`,
      )
      return []
    }
  }

  /** Closes all agents. */
  async close(): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#timer)
    // A running round may wait for an agent that never answers; an agent it has just started is closed after it.
    await this.#endAll()
    await this.#round
    await this.#endAll()
  }

  async #endAll(): Promise<void> {
    await Promise.all(this.#slots.map((slot) => this.#end(slot, 'terminated')))
  }

  /** Closes an agent and logs its exit status if it was a process. */
  async #end(slot: AgentSlot, reason: string): Promise<void> {
    const isProcess = slot.state !== 'failed' && slot.options.kind !== 'dso'
    const ended = await slot.close()
    if (isProcess)
      cleanUp(this.#host.env, slot, ended === undefined ? reason : `${reason}, ${exitText(ended)}`)
  }

  async #inTurn(round: () => Promise<void>): Promise<void> {
    const turn = this.#round.then(() => (this.#isClosed ? undefined : round()))
    this.#round = turn.catch(() => {}) // reported to the caller only, not to the next round
    await turn
  }

  /** Restarts agents. Clients are notified once, when all agents of the round are available. */
  async #startRound(deceased: readonly AgentSlot[], changes: number): Promise<void> {
    if (debug.appl1) trace('appl1', `round of ${deceased.length} agents to start`)
    this.#host.roundStarted()
    const count = await this.#startSlots(deceased)
    await this.#host.rerouted()
    if (count > 0) this.#host.changed(PMCD_ADD_AGENT | changes)
  }

  /**
   * Starts agents in parallel; failures are logged in configuration order. Resolves to the number of agents started.
   */
  async #startSlots(slots: readonly AgentSlot[]): Promise<number> {
    const outcomes = await Promise.allSettled(slots.map((slot) => slot.start()))
    let count = 0
    outcomes.forEach((outcome, i) => {
      const { name } = slots[i]!.options
      if (outcome.status === 'fulfilled') {
        this.#host.roundStarted()
        count++
      } else if (!this.#isClosed) {
        const { message } = PcpError.from(outcome.reason)
        this.#host.env.log.notice('error', `Agent "${name}" did not start: ${message}`)
      }
    })
    if (slots.some((slot) => slot.shouldRestart)) this.#scheduleRestart()
    return count
  }

  #newSlot(options: AgentOptions): AgentSlot {
    const { env } = this.#host
    const open = (signal: AbortSignal): Promise<OpenedAgent> => options.open(env, signal)
    return new AgentSlot(
      options,
      { open, credsTimeoutMs: env.credsTimeoutMs },
      {
        started: (slot) => {
          this.#host.env.events.agent('Add', slot.domain, slot.fds)
          this.#debug(slot, `started, ${slot.state}`)
          this.#host.started(slot)
        },
        changed: (slot, changes) => {
          this.#debug(slot, `announces state changes ${changes}`)
          this.#host.changed(changes)
          if ((changes & PMCD_NAMES_CHANGE) !== 0) this.#scheduleReroute()
        },
        ready: (slot) => {
          this.#debug(slot, 'is ready')
          this.#scheduleReroute()
        },
        lost: (slot, reason) => {
          this.#debug(slot, `is lost, status ${slot.status}`)
          this.#host.changed(PMCD_DROP_AGENT)
          reason.then((text) => cleanUp(this.#host.env, slot, text))
          this.#scheduleRestart()
        },
      },
    )
  }

  #debug(slot: AgentSlot, what: string): void {
    if (debug.appl0) trace('appl0', `agent "${slot.options.name}" ${what}`)
  }

  /** Schedules a reread of names, which may have changed. */
  #scheduleReroute(): void {
    // An agent may report changes with every reply; one pending reread covers them all.
    if (this.#isRerouteDue) return
    this.#isRerouteDue = true
    // Rerouting logs errors of agents and does not reject.
    void this.#inTurn(() => {
      this.#isRerouteDue = false
      return this.#host.rerouted()
    })
  }

  /** Restarts immediately after the first loss, later at most once per interval. */
  #scheduleRestart(): void {
    if (!this.#host.restartsAgents || this.#isClosed || this.#timer !== undefined) return
    const { restartIntervalMs = RESTART_INTERVAL_MS } = this.#host
    const since = this.#host.clock() - this.#lastRound
    // A clock that was set back must not delay the restart.
    const wait = since < 0 ? restartIntervalMs : Math.max(0, restartIntervalMs - since)
    if (debug.appl1) trace('appl1', `restart in ${wait} ms`)
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      this.#lastRound = this.#host.clock()
      void this.#autoRestart()
    }, wait)
    this.#timer.unref()
  }

  async #autoRestart(): Promise<void> {
    this.#host.env.log.notice('info', 'Auto-restarting agents.')
    try {
      await this.restart()
    } catch (error) {
      this.#host.env.log.notice('error', `Restarting agents: ${PcpError.from(error).message}`)
    }
  }
}

function isSame(a: SlotOptions, b: SlotOptions): boolean {
  return a.domain === b.domain && a.kind === b.kind && a.parameters === b.parameters && a.name === b.name
}

/** Logs the loss of an agent and the event trace. */
function cleanUp(env: AgentOpenEnv, slot: AgentSlot, reason: string): void {
  const { name, domain } = slot.options
  env.log.notice('info', 'CleanupAgent ...')
  env.log.line(loggableMessage(`Cleanup "${name}" agent (dom ${domain}): ${reason}`))
  const { events } = env
  events.agent('Drop', domain, slot.fds)
  events.dump()
}

/** Returns the names that an agent reports. An agent in this process also reports its dynamic subtrees. */
async function namesOf(source: MetricSource | AgentSource): Promise<Iterable<NamedId>> {
  if ('names' in source) return source.names()
  const ask = { requester: ANONYMOUS }
  const names = await source.traverse('', ask)
  const ids = await source.lookupNames(names, ask)
  return names.flatMap((name, i): NamedId[] => {
    const id = ids[i]
    return typeof id === 'number' ? [[name, id]] : []
  })
}

/** Adds a name; an invalid one is skipped with a warning and does not affect others. */
function addName(pmns: Pmns, name: string, id: number, slot: AgentSlot, env: AgentOpenEnv): void {
  try {
    pmns.add(name, id)
  } catch (error) {
    const { message } = PcpError.from(error)
    env.log.notice('warning', `Agent "${slot.options.name}", name "${name}" is ignored: ${message}`)
  }
}
