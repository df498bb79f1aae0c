/** The socket where others ask about containers. docs/formats/root.md */
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

/** What the socket answers with. */
export interface RootAnswers {
  /** The container that somebody means; undefined for one that is not there. */
  find(name: string): Container | undefined
  /** The container whose first process this is. */
  ofProcess(pid: number): Container | undefined
  /** What a container calls itself; undefined when that cannot be told. */
  hostname(container: Container): string | undefined
  /** What this machine calls itself. */
  ownHostname(): string
}

const NO_CONTAINER = statusOf('PM_ERR_NOCONTAINER')
const UNKNOWN = statusOf('PM_ERR_APPVERSION')

/** The answer to a question. PM_ERR_IPC for what is no question, or one that is not answered here. */
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

/** Serves a socket until it is closed. One that a process left when it crashed is removed. */
export class RootSocket {
  /** Settled when the socket is there, or `log` was told why not. */
  readonly ready: Promise<void>
  readonly #clients = new Set<Socket>()
  readonly #answers: RootAnswers
  #listeners: Listeners | undefined
  #isClosed = false

  constructor(path: string, answers: RootAnswers, log: (text: string) => void) {
    this.#answers = answers
    this.ready = this.#listen(path, log)
  }

  /** Ends all conversations and removes the socket. */
  close(): void {
    this.#isClosed = true
    this.#listeners?.close().catch(() => undefined) // it cannot fail: nothing is waited for
    for (const client of this.#clients) client.destroy()
  }

  async #listen(path: string, log: (text: string) => void): Promise<void> {
    // whoever may connect learns of all containers
    const onConnection = (client: Socket): void => this.#serve(client)
    this.#listeners = await listen({ ports: [], socketPath: path, isPrivate: true, onConnection, log })
    const error = this.#listeners.endpoints[0]?.error
    if (error !== undefined) log(`${error.message}: nobody can ask about containers`)
    if (this.#isClosed) await this.#listeners.close()
  }

  #serve(client: Socket): void {
    this.#clients.add(client)
    let kept: Uint8Array = new Uint8Array(0)
    client.unref()
    client.on('close', () => this.#clients.delete(client))
    client.on('error', () => client.destroy()) // it went away
    client.on('data', (data) => {
      try {
        kept = this.#consume(client, kept.length === 0 ? data : Buffer.concat([kept, data]))
      } catch {
        client.destroy() // what it says is no question: as the reference does, without an answer
      }
    })
    client.write(
      encodeRootInfo(PDUROOT_FEATURE_HOSTNAME | PDUROOT_FEATURE_PROCESSID | PDUROOT_FEATURE_CGROUP),
    )
  }

  /** Answers the questions that are whole, and gives back what remains. */
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
