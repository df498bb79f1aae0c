/** The socket that serves requests about containers. docs/formats/root.md */
import type { Socket } from 'node:net'
import { PcpError, statusOf } from '../../model/errors.ts'
import { type Listeners, listen } from '../../net/listen.ts'
import type { Container } from '../../sys/containers/container.ts'
import {
  decodeRootPdu,
  encodeRootInfo,
  encodeRootPdu,
  PDUROOT_CGROUPNAME_REQ,
  PDUROOT_FEATURE_CGROUP,
  PDUROOT_FEATURE_HOSTNAME,
  PDUROOT_FEATURE_PROCESSID,
  PDUROOT_HOSTNAME_REQ,
  PDUROOT_PROCESSID_REQ,
  type RootPdu,
  rootPduLength,
} from '../../wire/root.ts'

/** Callbacks for the answers. */
export interface RootAnswers {
  /** The container with a name or id; undefined for an unknown one. */
  find(name: string): Container | undefined
  /** The container whose first process has this PID. */
  ofProcess(pid: number): Container | undefined
  /** Host name of a container; undefined if unknown. */
  hostname(container: Container): string | undefined
  /** Host name of this machine. */
  ownHostname(): string
}

const NO_CONTAINER = statusOf('PM_ERR_NOCONTAINER')
const UNKNOWN = statusOf('PM_ERR_APPVERSION')

/** Answers a request. PM_ERR_IPC for an invalid or unsupported one. */
export function answerRoot(request: RootPdu, answers: RootAnswers): RootPdu {
  const { type, pid, name } = request
  const isHost = type === PDUROOT_HOSTNAME_REQ
  if (!isHost && type !== PDUROOT_PROCESSID_REQ && type !== PDUROOT_CGROUPNAME_REQ)
    throw new PcpError(
      'PM_ERR_IPC',
      `Type 0x${type.toString(16)} is not answered on the socket of the root agent`,
    )
  const answer = { type: type + 1, status: 0, pid, name: '' }
  if (isHost && name === '' && answers.ofProcess(pid) === undefined)
    return { ...answer, name: answers.ownHostname() }
  const found = name === '' ? answers.ofProcess(pid) : answers.find(name)
  if (found?.pid === undefined) return { ...answer, status: NO_CONTAINER, pid: 0 }
  const known = { ...answer, pid: found.pid }
  if (type === PDUROOT_PROCESSID_REQ) return known
  const told = isHost ? answers.hostname(found) : found.cgroup?.replace(/^\//, '')
  return told === undefined ? { ...known, status: UNKNOWN } : { ...known, name: told }
}

/** Serves a socket until it is closed. A socket left by a crashed process is removed. */
export class RootSocket {
  /** Resolves when the socket is listening, or the error was logged. */
  readonly ready: Promise<void>
  readonly #clients = new Set<Socket>()
  readonly #answers: RootAnswers
  #listeners: Listeners | undefined
  #isClosed = false

  constructor(path: string, answers: RootAnswers, log: (text: string) => void) {
    this.#answers = answers
    this.ready = this.#listen(path, log)
  }

  /** Closes all connections and removes the socket. */
  close(): void {
    this.#isClosed = true
    this.#listeners?.close().catch(() => undefined) // cannot fail, so not awaited
    for (const client of this.#clients) client.destroy()
  }

  async #listen(path: string, log: (text: string) => void): Promise<void> {
    // Connecting clients learn of all containers, so only permitted users may connect.
    const onConnection = (client: Socket): void => this.#serve(client)
    this.#listeners = await listen({ ports: [], socketPath: path, isPrivate: true, onConnection, log })
    const error = this.#listeners.endpoints[0]?.error
    if (error !== undefined) log(`${error.message}: requests about containers are not served`)
    if (this.#isClosed) await this.#listeners.close()
  }

  #serve(client: Socket): void {
    this.#clients.add(client)
    let kept: Uint8Array = new Uint8Array(0)
    client.unref()
    client.on('close', () => this.#clients.delete(client))
    client.on('error', () => client.destroy()) // the client disconnected
    client.on('data', (data) => {
      try {
        kept = this.#consume(client, kept.length === 0 ? data : Buffer.concat([kept, data]))
      } catch {
        client.destroy() // invalid request: as in PCP, disconnect without an answer
      }
    })
    client.write(
      encodeRootInfo(PDUROOT_FEATURE_HOSTNAME | PDUROOT_FEATURE_PROCESSID | PDUROOT_FEATURE_CGROUP),
    )
  }

  /** Answers all complete requests and returns the rest of the bytes. */
  #consume(client: Socket, bytes: Uint8Array): Uint8Array {
    let rest = bytes
    for (;;) {
      const length = rootPduLength(rest)
      if (length === undefined || rest.length < length) return rest
      client.write(encodeRootPdu(answerRoot(decodeRootPdu(rest.subarray(0, length)), this.#answers)))
      rest = rest.subarray(length)
    }
  }
}
