/**
 * The connection to one key server. Commands are sent in order; after a lost connection it reconnects and sends those again that were
 * not answered, which is harmless because all commands of this client set what they would set the second time.
 */
import { type Socket, connect as tcpConnect } from 'node:net'
import { type ConnectionOptions, connect as tlsConnect } from 'node:tls'
import { Backoff, doublingDelays } from '../../base/backoff.ts'
import { errStr, PcpError, statusOf } from '../../model/errors.ts'
import { type KeyServer, keyServerText } from './address.ts'
import { CommandBuffer } from './command-buffer.ts'
import { type DecodeText, ErrorReply, type Reply, ReplyReader } from './replies.ts'

/** Commands sent together. */
export interface Batch {
  readonly bytes: Buffer
  /** Number of commands. */
  readonly count: number
  /** Decodes texts of the replies; undefined for their bytes. */
  readonly decode?: DecodeText | undefined
  readonly onReply: (reply: Reply, index: number) => void
  /** Called instead of all further replies. */
  readonly onFailure: (error: PcpError) => void
}

/** How a key server is connected. */
export interface LinkOptions {
  readonly username?: string | undefined
  readonly password?: string | undefined
  /** Encrypts the connection. */
  readonly tls?: ConnectionOptions | undefined
  /** Milliseconds for which commands wait for a server, or cluster, that was reachable and no longer is; default 0. */
  readonly patienceMs?: number | undefined
  /** Milliseconds after which a connection attempt fails; default 5000. */
  readonly connectMs?: number | undefined
  /** Milliseconds without any reply after which a connection counts as lost; default 60,000. */
  readonly replyMs?: number | undefined
  /** Delays between attempts; default 100 ms, doubled up to 2 s. */
  readonly delaysMs?: readonly number[] | undefined
}

const CONNECT_MS = 5000
const REPLY_MS = 60_000
const DELAYS_MS = doublingDelays(100, 2000)
/** Replies to a login or PING of servers that will soon be available. */
const NOT_YET: ReadonlySet<string> = new Set(['LOADING', 'BUSY', 'MASTERDOWN', 'CLUSTERDOWN'])
const REFUSALS: ReadonlySet<string> = new Set(['WRONGPASS', 'NOAUTH', 'NOPERM'])

interface Waiting {
  readonly batch: Batch
  answered: number
  /** Replies to ignore, because they were received before the connection was lost. */
  repeated: number
}

/** Sends commands to one server. */
export class ServerLink {
  readonly server: KeyServer
  readonly #options: LinkOptions
  readonly #backoff: Backoff
  #waiting: Waiting[] = []
  #socket: Socket | undefined
  /** Replies to the login that are still to come. */
  #loginReplies = 0
  #isReady = false
  #wasReady = false
  #isClosed = false
  #retry: NodeJS.Timeout | undefined
  #watch: NodeJS.Timeout | undefined
  /** Since when nothing has been answered; undefined while all is well. */
  #troubleSince: number | undefined
  #lastReply = 0
  #isOfCluster = false
  /** Batches of this turn. */
  #unsent: Buffer[] = []

  constructor(server: KeyServer, options: LinkOptions) {
    this.server = server
    this.#options = options
    this.#backoff = new Backoff({ delaysMs: options.delaysMs ?? DELAYS_MS })
  }

  /** Sends a batch, as soon as there is a connection. */
  send(batch: Batch): void {
    if (this.#isClosed) {
      batch.onFailure(this.#error('ECONNABORTED', 'the connection was closed'))
      return
    }
    this.#waiting.push({ batch, answered: 0, repeated: 0 })
    if (this.#isReady) {
      if (this.#waiting.length === 1) this.#watchReplies()
      this.#write(batch.bytes)
    } else if (this.#socket === undefined && this.#retry === undefined) this.#connect()
  }

  /** From now on commands fail as soon as the connection is lost, because another server of the cluster may take over. */
  joinCluster(): void {
    this.#isOfCluster = true
  }

  /** Closes the connection; waiting commands fail. Idempotent. */
  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    clearTimeout(this.#retry)
    clearTimeout(this.#watch)
    this.#socket?.destroy()
    this.#fail(this.#error('ECONNABORTED', 'the connection was closed'))
  }

  /** Batches of one turn of the event loop are written together, as one buffer: many small ones take several times longer. */
  #write(bytes: Buffer): void {
    this.#unsent.push(bytes)
    if (this.#unsent.length > 1) return
    const socket = this.#socket!
    process.nextTick(() => {
      const unsent = this.#unsent
      this.#unsent = []
      // After a lost connection all that wait are sent again.
      if (this.#socket === socket) socket.write(unsent.length === 1 ? unsent[0]! : Buffer.concat(unsent))
    })
  }

  #connect(): void {
    const { tls, connectMs = CONNECT_MS } = this.#options
    this.#retry = undefined
    const { host, port } = this.server
    const socket =
      tls === undefined ? tcpConnect({ host, port }) : tlsConnect({ host, port, servername: host, ...tls })
    this.#socket = socket
    socket.setNoDelay(true)
    const reader = new ReplyReader(() => this.#waiting[0]?.batch.decode)
    let failure: unknown
    const timer = setTimeout(() => socket.destroy(systemError('ETIMEDOUT')), connectMs)
    socket.once(tls === undefined ? 'connect' : 'secureConnect', () => socket.write(this.#login()))
    socket.on('data', (piece: Buffer) => {
      if (this.#socket !== socket) return
      try {
        reader.push(piece, (reply) => {
          if (this.#isReady) this.#answer(reply)
          else if (this.#loginReplies > 0) this.#loggedIn(reply, socket, timer)
        })
      } catch (error) {
        if (!(error instanceof PcpError)) throw error
        this.#refuse(this.#error(error.code, error.message), socket)
      }
    })
    socket.once('error', (error) => {
      failure = error
    })
    socket.once('close', () => {
      clearTimeout(timer)
      if (this.#socket === socket) this.#lost(failure ?? systemError('ECONNRESET'))
    })
  }

  #login(): Buffer {
    const { username, password } = this.#options
    const commands = new CommandBuffer()
    if (password !== undefined)
      commands.add(username === undefined ? ['AUTH', password] : ['AUTH', username, password])
    commands.add(['PING'])
    this.#loginReplies = commands.count
    return commands.take().bytes
  }

  #loggedIn(reply: Reply, socket: Socket, timer: NodeJS.Timeout): void {
    if (reply instanceof ErrorReply) {
      const { kind, message } = reply
      if (NOT_YET.has(kind)) {
        socket.destroy(new Error(message))
        return
      }
      // An account may be allowed no PING.
      if (REFUSALS.has(kind) && !(kind === 'NOPERM' && this.#loginReplies === 1)) {
        const what = `${message}; check the user and password that are configured`
        this.#refuse(this.#error('PM_ERR_PERMISSION', what), socket)
        return
      }
    }
    if (--this.#loginReplies > 0) return
    clearTimeout(timer)
    this.#isReady = true
    this.#wasReady = true
    this.#backoff.succeeded(performance.now())
    for (const waiting of this.#waiting) {
      waiting.repeated = waiting.answered
      socket.write(waiting.batch.bytes)
    }
    this.#watchReplies()
  }

  #answer(reply: Reply): void {
    const first = this.#waiting[0]
    if (first === undefined) return // a server that sends more than was asked for
    this.#lastReply = performance.now()
    this.#troubleSince = undefined
    if (first.repeated > 0) {
      first.repeated--
      return
    }
    const index = first.answered++
    if (first.answered === first.batch.count) this.#waiting.shift()
    first.batch.onReply(reply, index)
  }

  /** Counts the connection as lost if the oldest command gets no reply. */
  #watchReplies(): void {
    const { replyMs = REPLY_MS } = this.#options
    clearTimeout(this.#watch)
    this.#lastReply = performance.now()
    const check = (): void => {
      if (this.#waiting.length === 0 || !this.#isReady) return
      const left = this.#lastReply + replyMs - performance.now()
      if (left <= 0) this.#socket?.destroy(systemError('ETIMEDOUT'))
      else this.#watch = setTimeout(check, Math.max(1, left)).unref()
    }
    this.#watch = setTimeout(check, replyMs).unref()
  }

  /** Fails all commands for good. */
  #refuse(error: PcpError, socket: Socket): void {
    this.#socket = undefined
    this.#isReady = false
    socket.destroy()
    this.#fail(error)
  }

  #lost(failure: unknown): void {
    this.#socket = undefined
    this.#isReady = false
    if (this.#isClosed || this.#waiting.length === 0) return
    const now = performance.now()
    this.#troubleSince ??= now
    const patienceMs = this.#isOfCluster ? 0 : (this.#options.patienceMs ?? 0)
    if (!this.#wasReady || now - this.#troubleSince >= patienceMs) {
      this.#fail(this.#connectionError(failure))
      return
    }
    const wait = Math.min(this.#backoff.failed(now), this.#troubleSince + patienceMs - now)
    this.#retry = setTimeout(() => this.#connect(), Math.max(1, wait))
  }

  #fail(error: PcpError): void {
    const failed = this.#waiting
    this.#waiting = []
    this.#troubleSince = undefined
    for (const { batch } of failed) batch.onFailure(error)
  }

  #connectionError(failure: unknown): PcpError {
    const { code } = failure as { readonly code?: unknown }
    const known = PcpError.from(failure)
    const isTls = typeof code === 'string' && /^(?:ERR_(?:SSL|TLS)|.*CERT)/.test(code)
    if (isTls)
      return this.#error(
        'PM_ERR_TLS',
        `${known.message}; check its certificate and the CA that is configured`,
      )
    const reason = known.code === 'PM_ERR_GENERIC' ? known.message : errStr(statusOf(known.code))
    return this.#error(known.code, `${reason}; is it running there?`)
  }

  #error(code: PcpError['code'], what: string): PcpError {
    return new PcpError(code, `Key server ${keyServerText(this.server)}: ${what}`)
  }
}

function systemError(code: 'ETIMEDOUT' | 'ECONNRESET'): Error {
  return Object.assign(new Error(errStr(statusOf(code))), { code })
}
