/** Executes pmlc's commands on the connected pmlogger. pmlc(1) */
import { hostname } from 'node:os'
import { PcpError } from '../../model/errors.ts'
import { timeoutMs } from '../../net/dial.ts'
import { SYSTEM_CLOCK } from '../../pmapi/clock.ts'
import type { Context } from '../../pmapi/context.ts'
import { controlSocketPaths } from '../../pmlogger/control-socket.ts'
import type { Variables } from '../../sys/config.ts'
import { processZone, readZoneFile } from '../../sys/zones.ts'
import { makeZone, newZone, type Zone } from '../../time/zone.ts'
import {
  type LogControl,
  PM_LOG_ADVISORY,
  PM_LOG_ENQUIRE,
  PM_LOG_MANDATORY,
  PM_LOG_MAYBE,
  PM_LOG_OFF,
  PM_LOG_ON,
} from '../../wire/log-control.ts'
import type { ToolIo } from '../lib/tool.ts'
import { type ControlAddress, LoggerConnection } from './connection.ts'
import { HELP } from './help.ts'
import { loggersHere, loggersThere, type RunningLogger } from './loggers.ts'
import { failuresText, findRequestedMetrics, requestSet } from './metrics.ts'
import type { Command, LoggerSpec } from './parse.ts'
import { queryText, statusText } from './print.ts'

/** pmlc's name of this host. */
export const LOCAL = 'local:'

const STATES = { on: PM_LOG_ON, off: PM_LOG_OFF, maybe: PM_LOG_MAYBE } as const
const CONTROLS = { mandatory: PM_LOG_MANDATORY, advisory: PM_LOG_ADVISORY } as const
const TIMEOUT_MS = 10_000

/** Options of a session. */
export interface SessionOptions {
  readonly io: ToolIo
  readonly variables: Variables
  /** Default host of loggers. */
  readonly host: string
  /** `local`, `logger` or a time zone. */
  readonly zone: string
  /** Connects to a collector. */
  readonly open: (host: string) => Promise<Context>
}

interface Connected {
  readonly connection: LoggerConnection
  readonly host: string
  readonly isPrimary: boolean
  /** The logger's collector, for looking up names and instances. */
  readonly context: Context
}

/** A session with loggers. It prints errors and continues. */
export class Session {
  readonly #options: SessionOptions
  #connected: Connected | undefined
  #zone: string

  constructor(options: SessionOptions) {
    this.#options = options
    this.#zone = options.zone
  }

  /** Executes a command; `where` begins error messages. Returns false if the session ends. */
  async run(command: Command, where: string): Promise<boolean> {
    const { io } = this.#options
    switch (command.kind) {
      case 'nothing':
        return true
      case 'quit':
        return false
      case 'help':
        io.stdout.write(HELP)
        return true
      case 'show':
        await this.#show(command.host ?? this.#options.host)
        return true
      case 'connect':
        await this.connect(command.logger, command.host ?? this.#options.host, false)
        return true
      case 'disconnect':
        await this.close()
        return true
      case 'timezone':
        this.#zone = command.zone
        return true
      case 'sleep':
        await SYSTEM_CLOCK.sleep(command.ms, io.signal).catch(() => undefined)
        return !io.signal.aborted
      default:
        await this.#onLogger(command, where)
        return true
    }
  }

  /** Disconnects from the current logger and connects to another one; prints failures. */
  async connect(spec: LoggerSpec, host: string, tells: boolean): Promise<void> {
    const { io } = this.#options
    await this.close()
    const name = nameOf(spec)
    try {
      const { connection, isPrimary } = await this.#dial(spec, host)
      try {
        const { pmcdFqdn = LOCAL } = await connection.status()
        const isElsewhere = host !== LOCAL && /^(?:local|unix):/.test(pmcdFqdn)
        const context = await this.#options.open(isElsewhere ? host : pmcdFqdn)
        this.#connected = { connection, host, isPrimary, context }
      } catch (error) {
        await connection.close()
        throw error
      }
      if (tells) io.stdout.write(`Connected to ${name} at ${host}\n`)
    } catch (error) {
      io.stderr.write(`Unable to connect to ${name} at ${host}: ${reasonOf(error)}\n`)
    }
  }

  /** Disconnects from the logger. */
  async close(): Promise<void> {
    const connected = this.#connected
    this.#connected = undefined
    await connected?.connection.close()
    await connected?.context.close()
  }

  async #onLogger(command: Command, where: string): Promise<void> {
    const { io } = this.#options
    const connected = this.#connected
    if (connected === undefined) {
      io.stderr.write(`Error ${where}\nNot connected to any pmlogger instance\n`)
      return
    }
    try {
      await this.#request(command, connected, where)
    } catch (error) {
      const { code } = PcpError.from(error)
      const isRefused = command.kind === 'newVolume' && code !== 'PM_ERR_TIMEOUT'
      const what = isRefused ? 'Error' : 'Error receiving response from pmlogger'
      io.stderr.write(`${what}: ${reasonOf(error)}\n`)
      if (!code.startsWith('PM_ERR_PERM') && code !== 'EAGAIN') await this.close()
    }
  }

  async #request(command: Command, connected: Connected, where: string): Promise<void> {
    const { io } = this.#options
    const { connection, host, isPrimary } = connected
    switch (command.kind) {
      case 'status': {
        const status = await connection.status()
        const zone = this.#zoneOf(status.loggerZoneinfo ?? status.loggerTimezone)
        io.stdout.write(statusText(status, { pid: connection.pid, isPrimary, host }, zone))
        return
      }
      case 'newVolume':
        io.stderr.write(`New log volume ${await connection.newVolume()}\n`)
        return
      case 'query':
        await this.#control(
          { control: PM_LOG_ENQUIRE, state: PM_LOG_OFF, deltaMs: 0 },
          command,
          connected,
          where,
        )
        return
      case 'log': {
        const { control, state, deltaMs } = command
        await this.#control(
          { control: CONTROLS[control], state: STATES[state], deltaMs },
          command,
          connected,
          where,
        )
        return
      }
      default: // sync: pmlogger does not buffer records
    }
  }

  async #control(
    request: Omit<LogControl, 'sets'>,
    command: Extract<Command, { kind: 'query' | 'log' }>,
    { connection, context }: Connected,
    where: string,
  ): Promise<void> {
    const { io } = this.#options
    const subjects = await findRequestedMetrics(context, command.metrics, where, (text) =>
      io.stderr.write(text),
    )
    if (subjects === undefined || subjects.length === 0) return
    const sets = await connection.control({ ...request, sets: subjects.map(requestSet) })
    if (command.kind === 'log') {
      io.stdout.write(failuresText({ ...request, sets: [] }, subjects, sets))
      return
    }
    subjects.forEach(({ name, names }, i) => {
      const set = sets[i]
      if (set !== undefined && set.status >= 0) io.stdout.write(queryText(name, set, names))
      else io.stdout.write(`${name}\n    ${PcpError.fromStatus(set?.status ?? -1).text}\n\n`)
    })
  }

  async #show(host: string): Promise<void> {
    const { io } = this.#options
    try {
      const loggers = await this.#loggersOf(host)
      if (loggers.length === 0) {
        io.stdout.write(`No pmloggers running on ${host}\n`)
        return
      }
      const list = [
        ...loggers.filter(({ isPrimary }) => isPrimary).map(({ pid }) => `primary (${pid})`),
        ...loggers.filter(({ isPrimary }) => !isPrimary).map(({ pid }) => String(pid)),
      ]
      // Like the reference, adds a blank per logger if none is primary.
      const indent = loggers.some(({ isPrimary }) => isPrimary) ? 4 : 4 + loggers.length
      io.stdout.write(
        `The following pmloggers are running on ${host}:\n${' '.repeat(indent)}${list.join(' ')}\n`,
      )
    } catch (error) {
      io.stderr.write(`Error: ${PcpError.from(error).message}\n`)
    }
  }

  async #loggersOf(host: string): Promise<RunningLogger[]> {
    if (isHere(host)) return loggersHere(this.#options.variables)
    const context = await this.#options.open(host)
    try {
      return await loggersThere(context)
    } finally {
      await context.close()
    }
  }

  async #dial(spec: LoggerSpec, host: string): Promise<{ connection: LoggerConnection; isPrimary: boolean }> {
    const target = isHere(host) ? '127.0.0.1' : host
    const loggers = spec.kind === 'port' && !isHere(host) ? [] : await this.#loggersOf(host)
    const logger = loggers.find(({ pid, port, isPrimary }) => {
      if (spec.kind === 'primary') return isPrimary
      return spec.kind === 'pid' ? pid === spec.pid : port === spec.port
    })
    // Tries the socket first: over the TCP port a logger may only allow enquiries.
    const id = spec.kind === 'primary' ? 'primary' : spec.kind === 'pid' ? spec.pid : logger?.pid
    const paths = isHere(host) && id !== undefined ? controlSocketPaths(this.#options.variables, id) : []
    const port = spec.kind === 'port' ? spec.port : (logger?.port ?? 0)
    const places: ControlAddress[] = [
      ...paths.map((path) => ({ path })),
      ...(port > 0 ? [{ host: target, port }] : []),
    ]
    const { io, variables } = this.#options
    const limit = timeoutMs(variables['PMLOGGER_REQUEST_TIMEOUT'], TIMEOUT_MS)
    let last = new PcpError('ECONNREFUSED')
    for (const place of places) {
      try {
        const connection = await LoggerConnection.open(place, limit, io.signal)
        return { connection, isPrimary: spec.kind === 'primary' }
      } catch (error) {
        const failure = PcpError.from(error)
        // If the socket does not exist, the port's error is more helpful.
        last = failure.code === 'ENOENT' ? new PcpError('ECONNREFUSED') : failure
      }
    }
    throw last
  }

  #zoneOf(loggerZone: string | undefined): { zone: Zone; zoneName: string } {
    const { env } = this.#options.io
    const read = (name: string): Uint8Array | undefined => readZoneFile(name, env)
    if (this.#zone === 'logger')
      return { zone: newZone(loggerZone ?? 'UTC', read) ?? makeZone('UTC'), zoneName: 'pmlogger' }
    const named = this.#zone === 'local' ? undefined : newZone(this.#zone, read)
    if (named !== undefined) return { zone: named, zoneName: this.#zone }
    const { name, bytes } = processZone(env)
    return { zone: makeZone(name, bytes), zoneName: 'local' }
  }
}

/** Returns the reason of a failure in PCP's words. After a timeout the connection is closed. */
function reasonOf(error: unknown): string {
  const { code, text } = PcpError.from(error)
  return code === 'PM_ERR_TIMEOUT' ? 'Timeout, closed connection to the pmlogger instance' : text
}

function isHere(host: string): boolean {
  return host === LOCAL || host === 'localhost' || host === hostname()
}

function nameOf(spec: LoggerSpec): string {
  if (spec.kind === 'primary') return 'primary pmlogger'
  return spec.kind === 'pid' ? `pmlogger pid ${spec.pid}` : `pmlogger on port ${spec.port}`
}
