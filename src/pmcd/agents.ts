/** All agents of a collector: started, lost, restarted, replaced when the configuration changes. pmcd(1) */

import { loggableMessage } from '../base/printable.ts'
import { within } from '../base/within.ts'
import { debug, trace } from '../model/debug.ts'
import { PcpError } from '../model/errors.ts'
import { ANONYMOUS, type MetricSource } from '../model/source.ts'
import { PMCD_ADD_AGENT, PMCD_DROP_AGENT, PMCD_NAMES_CHANGE, PMCD_RESTART_AGENT } from '../model/values.ts'
import type { NamedId } from '../pmda/names.ts'
import type { AgentSource } from '../pmda/open-agent.ts'
import { Pmns } from '../pmns/tree.ts'
import { AgentSlot, exitText, type OpenedAgent, type SlotOptions } from '../routing/agent-slot.ts'
import type { AgentOpenEnv, AgentOptions } from './options.ts'

/** Shortest time between two automatic restart rounds, in milliseconds. */
const RESTART_INTERVAL_MS = 60_000
/** Time for all names of one agent: however soon each answer comes, the others must not wait for ever. */
const NAMES_MS = 10_000

/** What agents do to their collector. */
export interface AgentsHost {
  readonly env: AgentOpenEnv
  readonly restartsAgents: boolean
  /** Shortest time between two automatic restart rounds in milliseconds; default 60 000. */
  readonly restartIntervalMs?: number
  readonly clock: () => number
  /** PMCD_* changes for all clients. */
  readonly changed: (changes: number) => void
  /** An agent was opened: it must hear who the clients are. */
  readonly started: (slot: AgentSlot) => void
  /** Agents came or went: names and routes may have changed. */
  readonly rerouted: () => Promise<void>
  /** An agent was started, or a round of restarts took place. */
  readonly advanced: () => void
}

/** The configured agents, in configuration order. */
export class Agents {
  readonly #host: AgentsHost
  #slots: readonly AgentSlot[] = []
  #lastRound = Number.NEGATIVE_INFINITY
  #timer: NodeJS.Timeout | undefined
  /** Rounds follow one another: the next waits for this. */
  #round: Promise<void> = Promise.resolve()
  #isLookDue = false
  #isClosed = false

  constructor(host: AgentsHost) {
    this.#host = host
  }

  /** One slot an agent, connected or not. */
  get slots(): readonly AgentSlot[] {
    return this.#slots
  }

  /** Starts the first agents. */
  start(options: readonly AgentOptions[]): Promise<void> {
    return this.#inTurn(async () => {
      this.#slots = options.map((each) => this.#newSlot(each))
      await this.#startSlots(this.#slots)
      await this.#host.rerouted()
    })
  }

  /** Starts those that are gone. */
  restart(): Promise<void> {
    return this.#inTurn(async () => {
      const deceased = this.#slots.filter((slot) => slot.state === 'failed')
      const names = deceased.map((slot) => ` "${slot.options.name}"`).join('')
      this.#host.env.log.line('Restarting any deceased agents:')
      this.#host.env.log.line(deceased.length === 0 ? '    (no agents required restarting)' : `   ${names}`)
      await this.#startRound(deceased, PMCD_RESTART_AGENT)
    })
  }

  /** Keeps connected agents whose line did not change, ends others, starts new ones and those that are gone. */
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

  /** A name space of everything the agents tell about their names: what there is without a PMNS file. */
  async names(): Promise<Pmns> {
    const pmns = new Pmns()
    const slots = this.#slots
    const lists = await Promise.all(slots.map((slot) => this.#namesOf(slot)))
    lists.forEach((names, i) => {
      for (const [name, id] of names) addName(pmns, name, id, slots[i]!, this.#host.env)
    })
    return pmns
  }

  /** Names of one agent; none when it does not return them, which is logged. */
  async #namesOf(slot: AgentSlot): Promise<Iterable<NamedId>> {
    const { source } = slot
    if (source === undefined || slot.refusal !== 0) return []
    try {
      const names = await within(NAMES_MS, namesOf(source))
      if (names !== undefined) return names
      this.#scheduleRestart() // which looks at all names again
      throw new PcpError('PM_ERR_TIMEOUT', `no complete list within ${NAMES_MS} ms`)
    } catch (error) {
      // An agent that has no names of its own needs a PMNS file to be seen.
      const { message } = PcpError.from(error)
      this.#host.env.log.notice('warning', `Agent "${slot.options.name}" does not tell its names: ${message}`)
      return []
    }
  }

  /** Ends all agents. */
  async close(): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#timer)
    // A round may be waiting for an agent that never answers; one that it has only just started ends after it.
    await this.#endAll()
    await this.#round
    await this.#endAll()
  }

  async #endAll(): Promise<void> {
    await Promise.all(this.#slots.map((slot) => this.#end(slot, 'terminated')))
  }

  /** Ends an agent, and logs how when it was a process of its own. */
  async #end(slot: AgentSlot, reason: string): Promise<void> {
    const isProcess = slot.state !== 'failed' && slot.options.kind !== 'dso'
    const ended = await slot.close()
    if (isProcess)
      cleanUp(this.#host.env, slot, ended === undefined ? reason : `${reason}, ${exitText(ended)}`)
  }

  async #inTurn(round: () => Promise<void>): Promise<void> {
    const turn = this.#round.then(() => (this.#isClosed ? undefined : round()))
    this.#round = turn.catch(() => {}) // the caller hears of it; the next round must not
    await turn
  }

  /** Clients hear of all of a round at once, when its agents can be asked. */
  async #startRound(deceased: readonly AgentSlot[], changes: number): Promise<void> {
    if (debug.appl1) trace('appl1', `round of ${deceased.length} agents to start`)
    this.#host.advanced()
    const count = await this.#startSlots(deceased)
    await this.#host.rerouted()
    if (count > 0) this.#host.changed(PMCD_ADD_AGENT | changes)
  }

  /**
   * Starts agents at the same time; those that fail are logged, in configuration order. Resolves to the number of
   * those that did start.
   */
  async #startSlots(slots: readonly AgentSlot[]): Promise<number> {
    const outcomes = await Promise.allSettled(slots.map((slot) => slot.start()))
    let count = 0
    outcomes.forEach((outcome, i) => {
      const { name } = slots[i]!.options
      if (outcome.status === 'fulfilled') {
        this.#host.advanced()
        count++
      } else if (!this.#isClosed) {
        const { message } = PcpError.from(outcome.reason)
        this.#host.env.log.notice('error', `Agent "${name}" did not start: ${message}`)
      }
    })
    if (slots.some((slot) => slot.isToRestart)) this.#scheduleRestart()
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
          if ((changes & PMCD_NAMES_CHANGE) !== 0) this.#lookAgain()
        },
        ready: (slot) => {
          this.#debug(slot, 'is ready')
          this.#lookAgain()
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

  /** Names may be others now. */
  #lookAgain(): void {
    // An agent may say so with every reply: one look that has not begun serves them all.
    if (this.#isLookDue) return
    this.#isLookDue = true
    // Rerouting logs what goes wrong with an agent and does not reject.
    void this.#inTurn(() => {
      this.#isLookDue = false
      return this.#host.rerouted()
    })
  }

  /** The first failure is mended at once, later ones at most once a minute. */
  #scheduleRestart(): void {
    if (!this.#host.restartsAgents || this.#isClosed || this.#timer !== undefined) return
    const { restartIntervalMs = RESTART_INTERVAL_MS } = this.#host
    const since = this.#host.clock() - this.#lastRound
    // A clock that was set back must not put the restart off.
    const wait = since < 0 ? restartIntervalMs : Math.max(0, restartIntervalMs - since)
    if (debug.appl1) trace('appl1', `restart in ${wait} ms`)
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      this.#lastRound = this.#host.clock()
      void this.#restartAndLook()
    }, wait)
    this.#timer.unref()
  }

  async #restartAndLook(): Promise<void> {
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

/** Logs that an agent is gone, and the events that led to it. */
function cleanUp(env: AgentOpenEnv, slot: AgentSlot, reason: string): void {
  const { name, domain } = slot.options
  env.log.notice('info', 'CleanupAgent ...')
  env.log.line(loggableMessage(`Cleanup "${name}" agent (dom ${domain}): ${reason}`))
  const { events } = env
  events.agent('Drop', domain, slot.fds)
  events.dump()
}

/** What an agent tells about its names. One in this process also tells which subtrees it must be asked about each time. */
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

/** One agent's wrong name must not cost the others theirs. */
function addName(pmns: Pmns, name: string, id: number, slot: AgentSlot, env: AgentOpenEnv): void {
  try {
    pmns.add(name, id)
  } catch (error) {
    const { message } = PcpError.from(error)
    env.log.notice('warning', `Agent "${slot.options.name}", name "${name}" is left out: ${message}`)
  }
}
