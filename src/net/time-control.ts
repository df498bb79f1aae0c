/** The client's end of a time control. pmTimeConnect(3), docs/formats/time-control.md */

import { once } from 'node:events'
import type { Socket } from 'node:net'
import type { Timestamp } from '../base/timestamp.ts'
import { PcpError } from '../model/errors.ts'
import {
  encodeTimeMessage,
  TIME_ACK,
  TIME_GUISHOW,
  TIME_SET,
  type TimeMessage,
  TimeMessages,
} from '../wire/time-control.ts'

/** A program's first message. */
export type TimeIntroduction = Pick<TimeMessage, 'source' | 'delta' | 'position' | 'start' | 'end'> & {
  readonly zone: NonNullable<TimeMessage['zone']>
}

const EPOCH: Timestamp = { sec: 0, nsec: 0 }
const PATIENCE_MS = 5000

/** A connection to a time control. */
export class TimeConnection {
  readonly #socket: Socket
  readonly #source: number
  readonly #messages = new TimeMessages()
  readonly #arrived: TimeMessage[] = []
  #error: Error | undefined
  #hasEnded = false
  #wake: () => void = () => {}

  private constructor(socket: Socket, source: number) {
    this.#socket = socket
    this.#source = source
    socket.on('data', (chunk) => {
      try {
        this.#arrived.push(...this.#messages.add(chunk))
      } catch (error) {
        this.#error = error as Error
        socket.destroy()
      }
      this.#wake()
    })
    socket.on('error', (error) => {
      this.#error ??= error
    })
    socket.on('close', () => {
      this.#hasEnded = true
      this.#wake()
    })
  }

  /** Connects to a port of this machine. Rejects with the reason and a remedy. @see pmTimeConnect(3) */
  static async open(port: number, introduction: TimeIntroduction): Promise<TimeConnection> {
    const refuse = (why: string, cause?: unknown): PcpError =>
      new PcpError(
        'ECONNREFUSED',
        `No time control at port ${port} of this machine: ${why}. npm start and pmproxy run one and print its port`,
        { cause },
      )
    const socket = process.getBuiltinModule('node:net').connect({ host: '127.0.0.1', port })
    try {
      await once(socket, 'connect')
    } catch (error) {
      throw refuse((error as Error).message, error)
    }
    const connection = new TimeConnection(socket, introduction.source)
    socket.write(encodeTimeMessage({ ...introduction, command: TIME_SET, state: 0, mode: 0 }))
    const timer = setTimeout(() => socket.destroy(new Error('it does not answer')), PATIENCE_MS)
    const answer = await connection.next()
    clearTimeout(timer)
    if (answer?.command === TIME_ACK && answer.source === introduction.source) return connection
    connection.close()
    throw refuse(connection.#error?.message ?? 'the listener there does not speak its protocol')
  }

  /** Returns the next message, or undefined after the control has closed. */
  async next(): Promise<TimeMessage | undefined> {
    for (;;) {
      const message = this.#arrived.shift()
      if (message !== undefined || this.#hasEnded) return message
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
  }

  /** Makes the control show its window, because the program is about to wait for the user. */
  showControl(): void {
    this.#send(TIME_GUISHOW, EPOCH, this.#source)
  }

  /** Acknowledges a step. */
  acknowledge(position: Timestamp): void {
    this.#send(TIME_ACK, position, 0)
  }

  #send(command: number, position: Timestamp, source: number): void {
    const none = { delta: EPOCH, start: EPOCH, end: EPOCH, state: 0, mode: 0 }
    if (!this.#socket.destroyed) this.#socket.write(encodeTimeMessage({ ...none, command, source, position }))
  }

  /** Disconnects. */
  close(): void {
    this.#socket.destroy()
  }
}
