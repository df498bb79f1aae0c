/** Reports driven by an external time control: -g and -p. pmTimeStateVector(3), docs/formats/time-control.md */

import { onAbort } from '../../base/on-abort.ts'
import { formatF } from '../../base/printf.ts'
import { type Timestamp, toSeconds } from '../../base/timestamp.ts'
import { PcpError } from '../../model/errors.ts'
import { TimeConnection } from '../../net/time-control.ts'
import type { Context } from '../../pmapi/context.ts'
import { readZoneFile } from '../../sys/zones.ts'
import { newZone, UTC, type Zone } from '../../time/zone.ts'
import {
  TIME_ARCHIVE,
  TIME_BACKWARD,
  TIME_CONTROL_PORT,
  TIME_HOST,
  TIME_SET,
  TIME_STEP,
  TIME_STOP,
  TIME_TZ,
  TIME_VCRMODE,
  TIME_VCRMODE_DRAG,
  type TimeMessage,
} from '../../wire/time-control.ts'
import type { StandardOptions } from './standard.ts'
import type { ToolIo } from './tool.ts'

/** A step: fetch, show, then call `done`. */
export interface ControlledStep {
  /** Time did not advance from the previous step, so rates restart. */
  readonly isRestart: boolean
  readonly isFirst: boolean
}

/** The parts of a report that the control changes. */
export interface ControlledReport {
  readonly contexts: readonly Context[]
  readonly intervalSec: number
  readonly origin: Timestamp
  readonly finish: Timestamp
  readonly zone: Zone
  readonly host: string
}

type State = 'start' | 'forward' | 'backward' | 'standby' | 'restart' | 'moving' | 'end'

/** Returns the port of -p or -g; undefined without one, and for port 0 as in PCP. */
export function controlPort({ guimode, guiport }: StandardOptions, io: ToolIo): number | undefined {
  if (guiport !== undefined) return guiport > 0 ? guiport : undefined
  if (!guimode) return undefined
  const port = Number(io.env['PMTIME_PORT'] ?? TIME_CONTROL_PORT)
  if (Number.isInteger(port) && port > 0 && port < 65_536) return port
  throw new PcpError('PM_ERR_ARG', `PMTIME_PORT must be a numeric port number (not ${io.env['PMTIME_PORT']})`)
}

/** The connection to a time control. */
export class TimeControlClient {
  readonly #connection: TimeConnection
  readonly #report: ControlledReport
  readonly #io: ToolIo
  #state: State = 'start'
  #position: Timestamp | undefined
  #deltaSec: number
  #zone: Zone

  private constructor(connection: TimeConnection, report: ControlledReport, io: ToolIo) {
    this.#connection = connection
    this.#report = report
    this.#io = io
    this.#deltaSec = report.intervalSec
    this.#zone = report.zone
  }

  /** Connects. Rejects with ECONNREFUSED and a hint. */
  static async open(port: number, report: ControlledReport, io: ToolIo): Promise<TimeControlClient> {
    const { contexts, intervalSec, origin, finish, zone, host } = report
    const delta = { sec: Math.floor(intervalSec), nsec: Math.round((intervalSec % 1) * 1e9) }
    const connection = await TimeConnection.open(port, {
      source: contexts[0]!.archive === undefined ? TIME_HOST : TIME_ARCHIVE,
      delta,
      position: origin,
      start: origin,
      end: finish,
      zone: { name: zone.name, label: host },
    })
    onAbort(io.signal, () => connection.close())
    connection.showControl()
    return new TimeControlClient(connection, report, io)
  }

  /** The current reporting zone. */
  get zone(): Zone {
    return this.#zone
  }

  /** Waits until a fetch is due; archives are then positioned. Rejects if the control has exited. */
  async next(): Promise<ControlledStep> {
    for (;;) {
      await this.#io.stdout.flush()
      const message = await this.#connection.next()
      this.#io.signal.throwIfAborted()
      if (message === undefined) {
        this.#io.stderr.write('\n')
        throw new PcpError('PM_ERR_IPC', 'Time Control dialog exited, goodbye.')
      }
      const step = message.command === TIME_STEP ? this.#step(message) : this.#note(message)
      if (step !== undefined) return step
    }
  }

  /** Acknowledges the step. */
  done(): void {
    if (this.#position !== undefined) this.#connection.acknowledge(this.#position)
    this.#position = undefined
  }

  /** Reports the end of the archive; the control can still move back. */
  endOfArchive(): void {
    this.done()
    if (this.#state !== 'end') this.#say('End of Archive')
    this.#state = 'end'
  }

  /** Disconnects. */
  close(): void {
    this.#connection.close()
  }

  #step(message: TimeMessage): ControlledStep | undefined {
    const { position, state } = message
    if (state === TIME_BACKWARD) {
      if (this.#state !== 'backward') this.#say('Rewind/Reverse')
      this.#state = 'backward'
      this.#connection.acknowledge(position)
      return undefined
    }
    if (this.#state === 'end') {
      this.#connection.acknowledge(position)
      return undefined
    }
    const before = this.#state
    this.#state = 'forward'
    this.#position = position
    if (before === 'forward') return { isRestart: false, isFirst: false }
    const isRecorded = this.#report.contexts[0]!.archive !== undefined
    if (before !== 'start')
      this.#say(before === 'standby' || !isRecorded ? 'Resume' : 'Repositioned in archive')
    const deltaSec = toSeconds(message.delta)
    if (before !== 'start' && deltaSec !== this.#deltaSec)
      this.#io.stdout.write(`new interval:  ${formatF(deltaSec, 2)} sec\n`)
    this.#deltaSec = deltaSec
    for (const { archive } of this.#report.contexts) archive?.setMode('interpolate', position, deltaSec)
    return { isRestart: true, isFirst: before === 'start' }
  }

  #note({ command, state, zone }: TimeMessage): undefined {
    switch (command) {
      case TIME_VCRMODE:
        this.#state = state === TIME_STOP ? 'standby' : 'restart'
        break
      case TIME_VCRMODE_DRAG:
        this.#state = 'moving'
        break
      case TIME_SET:
        if (this.#state === 'end') this.#state = 'standby'
        else if (this.#state === 'forward') this.#state = 'restart'
        break
      case TIME_TZ:
        if (zone === undefined) break
        this.#zone = newZone(zone.name, readZoneFile) ?? UTC
        this.#io.stdout.write(`new timezone: ${zone.name} (${zone.label})\n`)
        break
    }
    return undefined
  }

  #say(what: string): void {
    this.#io.stdout.write(`\n[Time Control] ${what} ...\n`)
  }
}

/** Returns a zone that follows the control's current one. */
export function zoneOf(followed: TimeControlClient): Zone {
  return {
    get name(): string {
      return followed.zone.name
    },
    at: (sec) => followed.zone.at(sec),
  }
}
