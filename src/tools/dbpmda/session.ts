/** A session of dbpmda: the open agent, the settings, and the execution of commands. dbpmda(1) */

import { setLongTimeout } from '../../base/after.ts'
import { onAbort } from '../../base/on-abort.ts'
import { clearDebug, debugList, setDebug } from '../../model/debug.ts'
import { type Outcome, PcpError, statusOf } from '../../model/errors.ts'
import { indomStr, isDynamicRoot, type Pmid, pmidStr } from '../../model/ids.ts'
import { exclude, include, type Profile } from '../../model/profile.ts'
import { ANONYMOUS, type Requester } from '../../model/source.ts'
import type { Pmns } from '../../pmns/tree.ts'
import { servicePort } from '../../sys/services.ts'
import type { Zone } from '../../time/zone.ts'
import { printOptions } from '../lib/print.ts'
import type { ToolIo } from '../lib/tool.ts'
import { attributeName, withAttribute } from './attributes.ts'
import { helpOf, usageOf } from './help.ts'
import { type OpenAgent, openTarget } from './open.ts'
import type { AgentAddress, Command, ParseContext, ProfileChange } from './parse.ts'
import { type AgentRequest, REQUESTS } from './requests.ts'
import { watchFile } from './watch.ts'

/** A name space and its file; undefined for the default file. */
export interface NameSpace {
  readonly file: string | undefined
  readonly pmns: Pmns
}

/** Options of a session. */
export interface SessionOptions {
  readonly io: ToolIo
  readonly names: NameSpace
  readonly handshakeMs: number
  readonly zone: Zone
  /** Loads another name space; prints errors and returns undefined. */
  readonly loadNames: (file: string) => Pmns | undefined
}

const NOTREADY = statusOf('PM_ERR_PMDANOTREADY')

/** One agent at a time, and the user's settings. Call `close` when done. */
export class Session {
  readonly #options: SessionOptions
  #names: NameSpace
  #agent: OpenAgent | undefined
  #requester: Requester = ANONYMOUS
  /** The profile last sent to the agent. */
  #told: Profile | undefined
  #getdesc = false
  #getiname = false
  #timer = false
  /** Milliseconds the agent took for the requests of this command; undefined without requests. */
  #spentMs: number | undefined

  constructor(options: SessionOptions) {
    this.#options = options
    this.#names = options.names
  }

  /** Callbacks for the parser. */
  get context(): ParseContext {
    return {
      lookup: (name) => this.#lookup(name),
      unnamed: (id) => this.#complain(`Warning: PMID (${pmidStr(id)}) is not defined in the PMNS`),
      isNamed: (id) => this.namesOf(id).length > 0,
      servicePort,
    }
  }

  /** Returns a metric's names from the name space, or from an agent in this process. */
  namesOf(id: Pmid): readonly string[] {
    const named = this.#names.pmns.namesOf(id)
    if (named.length > 0) return named
    return [...(this.#agent?.names ?? [])].flatMap(([name, each]) => (each === id ? [name] : []))
  }

  /** Executes a command. Resolves to false after `quit`. */
  async run(command: Command): Promise<boolean> {
    this.#spentMs = undefined
    switch (command.type) {
      case 'quit':
        return false
      case 'usage':
        this.#say(usageOf(command.topic))
        break
      case 'help':
        this.#say(helpOf(command.topic))
        break
      case 'status':
        this.#say(this.#status())
        break
      case 'open':
        await this.#open(command.place)
        break
      case 'close':
        await this.close()
        break
      case 'getdesc':
        this.#getdesc = command.isOn
        break
      case 'getiname':
        this.#getiname = command.isOn
        if (command.isOn) this.#getdesc = true
        break
      case 'timer':
        this.#timer = command.isOn
        break
      case 'debug':
        for (const { name, isOn } of command.changes) (isOn ? setDebug : clearDebug)(name)
        break
      case 'profile':
        this.#setProfile(command.indom, command.change)
        break
      case 'namespace':
        await this.#loadNames(command.file)
        break
      case 'wait':
        await this.#wait(command.seconds)
        break
      case 'watch':
        await watchFile(command.file, (text) => this.#complain(text))
        break
      case 'attr':
        await this.#setAttribute(command.key, command.value)
        break
      default:
        await this.#request(command)
    }
    if (this.#timer && this.#spentMs !== undefined)
      this.#say(`Timer: ${(this.#spentMs / 1000).toFixed(6)} seconds\n`)
    return true
  }

  /** Closes the connection to the agent, if any. */
  async close(): Promise<void> {
    const agent = this.#agent
    this.#agent = undefined
    this.#told = undefined
    await agent?.close()
  }

  async #open(place: AgentAddress): Promise<void> {
    await this.close()
    const { io, handshakeMs } = this.#options
    try {
      this.#agent = await openTarget(place, { io, handshakeMs })
      this.#requester = ANONYMOUS
    } catch (error) {
      await this.#complain(messageOf(error))
    }
  }

  async #request(command: AgentRequest): Promise<void> {
    const agent = this.#agent
    if (agent === undefined) {
      await this.#complain('Warning: No PMDA currently opened')
      return
    }
    const { io, zone } = this.#options
    try {
      await REQUESTS[command.type](command as never, {
        source: agent.source,
        ask: { requester: this.#requester },
        domain: agent.domain ?? 0,
        isLocal: agent.kind === 'dso',
        getdesc: this.#getdesc,
        getiname: this.#getiname,
        zone,
        print: printOptions(zone, io),
        namesOf: (id) => this.namesOf(id),
        say: (text) => this.#say(text),
        time: (answer) => this.#time(answer),
        failed: (error, call) => this.#failed(agent, error, call),
        sendsProfile: () => this.#sendsProfile(agent),
      })
    } catch (error) {
      if (!(error instanceof PcpError)) throw error
      this.#say(`Error: ${error.message}\n`)
    }
    const lost = agent.lostBy()
    if (lost === undefined || this.#agent !== agent) return
    this.#say(`Error: ${lost.message}\n`)
    await this.close()
  }

  /** Adds the time until a reply, successful or not. */
  async #time<T>(answer: Promise<T>): Promise<T> {
    const start = performance.now()
    try {
      return await answer
    } finally {
      this.#spentMs = (this.#spentMs ?? 0) + performance.now() - start
    }
  }

  #failed(agent: OpenAgent, error: PcpError, call: string): void {
    if (agent.lostBy() !== undefined) return // reported once, after the command
    const cause = error.cause instanceof PcpError && error.cause.status === NOTREADY ? error.cause : error
    this.#say(
      agent.kind === 'dso' ? `Error: DSO ${call}() failed: ${cause.text}\n` : `Error PDU: ${cause.text}\n`,
    )
  }

  /** Returns whether the profile has to be sent with the next fetch. An agent in this process sees it directly. */
  #sendsProfile({ kind }: OpenAgent): boolean {
    const { profile } = this.#requester
    const isNews = kind === 'daemon' && this.#told !== profile
    this.#told = profile
    return isNews
  }

  async #setAttribute(key: number, value: string): Promise<void> {
    if (this.#agent === undefined) {
      await this.#complain('Warning: No PMDA currently opened')
      return
    }
    this.#say(`Attribute: ${attributeName(key)}=${value === '' ? "''" : value}\n`)
    this.#requester = withAttribute(this.#requester, key, value)
    this.#agent.attribute?.(key, value)
    this.#say('Success\n')
  }

  #setProfile(indom: number, change: ProfileChange): void {
    const { profile } = this.#requester
    const changed =
      change === 'all'
        ? include(profile, indom)
        : change === 'none'
          ? exclude(profile, indom)
          : 'add' in change
            ? include(profile, indom, [change.add])
            : exclude(profile, indom, [change.delete])
    this.#requester = { ...this.#requester, profile: changed }
  }

  async #loadNames(file: string): Promise<void> {
    await this.#options.io.stdout.flush()
    const pmns = this.#options.loadNames(file)
    const old = this.#names.file === undefined ? 'default namespace' : `namespace "${this.#names.file}"`
    if (pmns === undefined) await this.#complain(`${this.#options.io.progname}: Reload ${old}`)
    else this.#names = { file, pmns }
  }

  async #wait(seconds: number): Promise<void> {
    const { io } = this.#options
    await io.stdout.flush()
    await new Promise<void>((resolve) => {
      const end = (): void => {
        cancel()
        unlink()
        resolve()
      }
      const cancel = setLongTimeout(seconds * 1000, end)
      const unlink = onAbort(io.signal, end)
    })
  }

  /** Looks a name up. Names below a dynamic root are resolved by the agent; an agent in this process needs no name space. */
  async #lookup(name: string): Promise<Outcome<Pmid>> {
    const id = this.#names.pmns.lookup(name)
    const isElsewhere = typeof id === 'number' && isDynamicRoot(id)
    if (typeof id === 'number' && !isElsewhere) return id
    const own = this.#agent?.names?.get(name)
    if (own !== undefined && !isDynamicRoot(own)) return own
    // Without an agent the command reports that none is open.
    if (!isElsewhere || this.#agent === undefined) return id
    try {
      const [found] = await this.#agent.source.lookupNames([name], { requester: this.#requester })
      return found ?? new PcpError('PM_ERR_NAME')
    } catch (error) {
      return PcpError.from(error)
    }
  }

  #status(): string {
    const agent = this.#agent
    const rows: (readonly [string, string])[] = [
      ['Namespace', this.#names.file ?? '(default)'],
      ['PMDA', agent?.title ?? 'none'],
    ]
    if (agent !== undefined) {
      rows.push(['Connection', agent.kind === 'dso' ? 'dso' : `daemon (pid: ${agent.pid})`])
      if (agent.kind === 'dso') rows.push(['DSO Interface Version', '7'])
      rows.push(['PMDA PMAPI Version', '2'])
    }
    rows.push(
      ['Debug options', debugWords()],
      ['Timer', onOff(this.#timer)],
      ['Getdesc', onOff(this.#getdesc)],
      ['Getiname', onOff(this.#getiname)],
    )
    const table = rows.map(([title, value]) => `${`${title}:`.padEnd(24)}${value}\n`).join('')
    return `\n${table}\n${profileDump(this.#requester.profile)}\n`
  }

  #say(text: string): void {
    this.#options.io.stdout.write(text)
  }

  /** Writes a line to standard error after all previous output. */
  async #complain(text: string): Promise<void> {
    const { stdout, stderr } = this.#options.io
    await stdout.flush()
    stderr.write(`${text}\n`)
    await stderr.flush()
  }
}

function debugWords(): string {
  const list = debugList()
  return list === '' ? '(none)' : list === 'all' ? '(all)' : list.replaceAll(',', ' ')
}

function onOff(isOn: boolean): string {
  return isOn ? 'on' : 'off'
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** @see __pmDumpProfile(3) */
function profileDump({ includeByDefault, entries }: Profile): string {
  const state = (isIncluded: boolean): string => (isIncluded ? 'INCLUDE' : 'EXCLUDE')
  let text = `Dump Instance Profile state=${state(includeByDefault)}, ${entries.size} profiles\n`
  let i = 0
  for (const { indom, includeAll, instances } of entries.values()) {
    text += `\tProfile [${i++}] indom=${indom} [${indomStr(indom)}] `
    text += `state=${state(includeAll)} ${instances.size} instances\n`
    if (instances.size > 0) text += `\t\tInstances: ${[...instances].map((inst) => `[${inst}]`).join(' ')}\n`
  }
  return text
}
