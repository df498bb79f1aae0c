/**
 * A key server, or the cluster that it belongs to. Commands are sent to the server of their key; a server that has lost it names the
 * right one, and a server that has gone is replaced as soon as another one of the cluster says by which.
 */
import { Backoff, doublingDelays } from '../../base/backoff.ts'
import { PcpError } from '../../model/errors.ts'
import { type KeyServer, keyServerText } from './address.ts'
import { type Command, CommandBuffer } from './command-buffer.ts'
import { type LinkOptions, ServerLink } from './link.ts'
import { type DecodeText, ErrorReply, type Reply } from './replies.ts'
import { SLOTS, slotOf } from './slots.ts'
import { redirection, serverKey, slotRanges } from './topology.ts'

/** The most servers of a cluster. */
const MOST_SERVERS = 1000
/** Errors after which the same command may succeed, at this server or another one. */
const TRANSIENT: ReadonlySet<string> = new Set([
  'MOVED',
  'ASK',
  'TRYAGAIN',
  'CLUSTERDOWN',
  'LOADING',
  'MASTERDOWN',
  'READONLY',
])
const RETRY_MS = doublingDelays(20, 1000)
/** Milliseconds for which commands wait for a cluster that is reorganized, at least. */
const LEAST_PATIENCE_MS = 5000

/** Returns whether a command may succeed later, or elsewhere. */
export function isTransient(reply: Reply): reply is ErrorReply {
  return reply instanceof ErrorReply && TRANSIENT.has(reply.kind)
}

/** Commands, and what decodes the texts of their replies. */
interface Calls {
  readonly commands: readonly Command[]
  readonly decode: DecodeText | undefined
}

/** A connection to a key server or cluster. */
export class KeyClient {
  readonly #options: LinkOptions
  readonly #links = new Map<string, ServerLink>()
  /** Servers by slot; undefined for a single server. */
  #slots: (ServerLink | undefined)[] | undefined
  readonly #first: ServerLink
  #refreshing: Promise<void> | undefined
  #isClosed = false

  private constructor(first: ServerLink, options: LinkOptions) {
    this.#first = first
    this.#options = options
    this.#links.set(serverKey(first.server), first)
  }

  /**
   * Connects to the first of the servers that answers, and finds out whether it is part of a cluster. The error of the last server if none
   * answers: ECONNREFUSED and the like, PM_ERR_PERMISSION for a wrong password, PM_ERR_TLS.
   */
  static async open(servers: readonly KeyServer[], options: LinkOptions = {}): Promise<KeyClient> {
    let failure = new PcpError('EINVAL', 'No key server is configured')
    for (const server of servers) {
      const client = new KeyClient(new ServerLink(server, options), options)
      try {
        client.#setSlots(await client.#ask(client.#first, ['CLUSTER', 'SLOTS']), server)
        return client
      } catch (error) {
        client.close()
        failure = PcpError.from(error)
      }
    }
    throw failure
  }

  /** Whether keys are distributed over several servers. */
  get isCluster(): boolean {
    return this.#slots !== undefined
  }

  get isClosed(): boolean {
    return this.#isClosed
  }

  /** Names the server for messages. */
  get name(): string {
    return `${keyServerText(this.#first.server)}${this.isCluster ? ' (cluster)' : ''}`
  }

  /** Milliseconds for which commands are repeated after errors that may pass. */
  get patienceMs(): number {
    return Math.max(LEAST_PATIENCE_MS, this.#options.patienceMs ?? 0)
  }

  /** Returns the connection to the server that has a slot. */
  linkOf(slot: number): ServerLink {
    return this.#slots?.[slot] ?? this.#first
  }

  /** Returns the connection to a server. */
  linkTo(server: KeyServer): ServerLink {
    const key = serverKey(server)
    let link = this.#links.get(key)
    if (link === undefined) {
      if (this.#links.size >= MOST_SERVERS)
        throw new PcpError(
          'E2BIG',
          `Key server ${this.name}: its cluster has more than ${MOST_SERVERS} servers`,
        )
      link = new ServerLink(server, this.#options)
      link.joinCluster()
      this.#links.set(key, link)
    }
    return link
  }

  /** Sends a command whose first argument is its key. An error reply becomes an error: see `replyError`. */
  async call(...command: Command): Promise<Exclude<Reply, ErrorReply>> {
    const [reply] = await this.callAll([command])
    if (reply instanceof ErrorReply) throw this.replyError(reply)
    return reply as Exclude<Reply, ErrorReply>
  }

  /** Sends commands together and returns the reply to each, of which some may be errors; `decode` is for their texts. */
  async callAll(commands: readonly Command[], decode?: DecodeText): Promise<readonly Reply[]> {
    const replies: Reply[] = new Array(commands.length).fill(null)
    let left = commands.map((_, i) => i)
    const backoff = new Backoff({ delaysMs: RETRY_MS })
    const started = performance.now()
    for (let again = false; ; again = true) {
      const isLast = performance.now() - started >= this.patienceMs
      left = await this.#round({ commands, decode }, left, replies, again, isLast)
      if (left.length === 0 || isLast) return replies
      const moved = left.every((i) =>
        /^(?:MOVED|ASK) /.test((replies[i] as ErrorReply | null)?.message ?? ''),
      )
      if (!moved) await new Promise((resolve) => setTimeout(resolve, backoff.failed(performance.now())))
      // Without an answer, the last attempt reports the error.
      if (this.isCluster && !moved) await this.refresh().catch(() => undefined)
    }
  }

  /** Returns the error for an error reply. */
  replyError({ kind, message }: ErrorReply): PcpError {
    const at = `Key server ${this.name}`
    switch (kind) {
      case 'OOM':
        return new PcpError(
          'ENOSPC',
          `${at} is full: ${message}; raise its maxmemory, or keep fewer values (stream.maxlen, stream.expire)`,
        )
      case 'MISCONF':
        return new PcpError('ENOSPC', `${at} cannot write to its disk: ${message}`)
      case 'NOAUTH':
      case 'WRONGPASS':
      case 'NOPERM':
        return new PcpError(
          'PM_ERR_PERMISSION',
          `${at}: ${message}; check the user and password that are configured`,
        )
      default:
        return new PcpError('PM_ERR_GENERIC', `${at}: ${message}`)
    }
  }

  /** Learns the servers of the cluster again, from the first one that answers. Throws the last error if no server answers. */
  async refresh(): Promise<void> {
    if (!this.isCluster) return
    this.#refreshing ??= this.#refresh().finally(() => {
      this.#refreshing = undefined
    })
    return this.#refreshing
  }

  /** Closes all connections. Commands without a reply fail. Idempotent. */
  close(): void {
    this.#isClosed = true
    for (const link of this.#links.values()) link.close()
  }

  async #refresh(): Promise<void> {
    let failure: unknown
    for (const link of [...this.#links.values()]) {
      try {
        const reply = await this.#ask(
          new ServerLink(link.server, { ...this.#options, patienceMs: 0 }),
          ['CLUSTER', 'SLOTS'],
          true,
        )
        if (slotRanges(reply, link.server).length === 0) continue
        return this.#setSlots(reply, link.server)
      } catch (error) {
        failure = error
      }
    }
    if (failure !== undefined) throw PcpError.from(failure)
  }

  #setSlots(reply: Reply, asked: KeyServer): void {
    if (this.#isClosed) return
    const ranges = slotRanges(reply, asked)
    if (ranges.length === 0) return
    const slots: (ServerLink | undefined)[] = new Array(SLOTS).fill(undefined)
    for (const { first, last, server } of ranges) slots.fill(this.linkTo(server), first, last + 1)
    const used = new Set(slots)
    this.#first.joinCluster()
    for (const [key, link] of this.#links)
      if (!used.has(link) && link !== this.#first) {
        link.close()
        this.#links.delete(key)
      }
    this.#slots = slots
  }

  /** Sends those of the commands that are left, and returns which of them need another attempt. */
  async #round(
    { commands, decode }: Calls,
    left: readonly number[],
    replies: Reply[],
    again: boolean,
    isLast: boolean,
  ): Promise<number[]> {
    const byLink = new Map<ServerLink, number[]>()
    for (const i of left) {
      const link = this.#linkFor(commands[i]!, again ? replies[i]! : null)
      const list = byLink.get(link)
      if (list === undefined) byLink.set(link, [i])
      else list.push(i)
    }
    const repeat: number[] = []
    const send = async (link: ServerLink, list: readonly number[]): Promise<void> => {
      const buffer = new CommandBuffer()
      // Which command a reply is to; undefined for that of ASKING.
      const places: (number | undefined)[] = []
      for (const i of list) {
        const before = replies[i]
        if (again && before instanceof ErrorReply && before.kind === 'ASK') {
          buffer.add(['ASKING'])
          places.push(undefined)
        }
        buffer.add(commands[i]!)
        places.push(i)
      }
      try {
        await this.#send(link, buffer, decode, (reply, n) => {
          const i = places[n]
          if (i === undefined) return
          replies[i] = reply
          if (!isTransient(reply)) return
          repeat.push(i)
          this.#learn(reply, link)
        })
      } catch (error) {
        if (!this.isCluster || this.#isClosed || isLast) throw error
        // Commands are repeated at the server that took over.
        for (const i of list) if (!repeat.includes(i)) repeat.push(i)
        for (const i of repeat) replies[i] = new ErrorReply(`TRYAGAIN ${(error as Error).message}`)
      }
    }
    await Promise.all([...byLink].map(([link, list]) => send(link, list)))
    return repeat
  }

  #linkFor(command: Command, before: Reply): ServerLink {
    if (!this.isCluster) return this.#first
    if (before instanceof ErrorReply && before.kind === 'ASK') {
      const to = redirection(before.message, this.#first.server)
      if (to !== undefined) return this.linkTo(to.server)
    }
    return this.linkOf(slotOf(String(command[1] ?? '')))
  }

  /** Notes where a slot has moved. */
  #learn({ kind, message }: ErrorReply, from: ServerLink): void {
    const to = kind === 'MOVED' ? redirection(message, from.server) : undefined
    if (to !== undefined && this.#slots !== undefined) this.#slots[to.slot] = this.linkTo(to.server)
  }

  async #ask(link: ServerLink, command: Command, closes = false): Promise<Reply> {
    const buffer = new CommandBuffer()
    buffer.add(command)
    let answer: Reply = null
    try {
      await this.#send(link, buffer, undefined, (reply) => {
        answer = reply
      })
    } finally {
      if (closes) link.close()
    }
    return answer
  }

  #send(
    link: ServerLink,
    buffer: CommandBuffer,
    decode: DecodeText | undefined,
    onReply: (reply: Reply, n: number) => void,
  ): Promise<void> {
    const { count } = buffer
    const { bytes } = buffer.take()
    return new Promise((resolve, reject) => {
      link.send({
        bytes,
        count,
        decode,
        onReply: (reply, n) => {
          onReply(reply, n)
          if (n === count - 1) resolve()
        },
        onFailure: reject,
      })
    })
  }
}
