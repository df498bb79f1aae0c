/** pcp-ts start, which is also `npm start`: runs collector, recorder and web server for one user. docs/start/npm-start.md */
import { dirname, relative } from 'node:path'
import { every } from '../../../base/every.ts'
import { onAbort } from '../../../base/on-abort.ts'
import { loggable } from '../../../base/printable.ts'
import { PcpError } from '../../../model/errors.ts'
import { BUILTIN_AGENTS } from '../../../pmcd/open-agents.ts'
import { start } from '../../../start/run.ts'
import { takeServiceManager } from '../../../sys/service-files.ts'
import { type ParsedOptions, parseOptions } from '../../lib/options.ts'
import { handleSubcommandExit } from '../../lib/subcommand.ts'
import type { Tool, ToolIo } from '../../lib/tool.ts'
import { invocationOf, OPTIONS, readOptions } from './options.ts'

/** Interval of the check that npm's shell still runs. */
const PARENT_MS = 1000

/** Starts the parts, and stops them when a signal arrives or npm's shell ends. */
export const tool: Tool = {
  name: 'pcp-ts-start',
  summary: "Collect, record and chart this host's metrics",
  description: `
Runs a collector with its agents, a recorder and a web server with charts, until Ctrl-C or SIGTERM, for the user who starts it. It needs no
configuration, no root and no other PCP, and prints where everything is. A part that ends is restarted.

Settings, archives and logs are in the user's XDG directories, below --dir, or in those of the system's service, which the service
manager names in the environment. Run by systemd with Type=notify, it reports when everything listens; pcp-ts service installs such a unit.`,
  environment: [
    [
      'CONFIGURATION_DIRECTORY, STATE_DIRECTORY, LOGS_DIRECTORY, RUNTIME_DIRECTORY',
      'directories for --system-dirs, set by systemd',
    ],
    ['NOTIFY_SOCKET', 'where systemd awaits notifications, set by systemd'],
  ],
  examples: [
    ['pcp-ts start', 'Collect, record and chart:'],
    ['pcp-ts start --port 44421 --web-port 44423 --no-record', 'Beside an installed PCP, without recording:'],
  ],
  seeAlso: ['pcp-ts', 'pmcd', 'pmlogger', 'pmproxy'],
  options: OPTIONS,
  shutsDownOnSignal: true,
  async run(io) {
    const { env, cwd, signal, progname, stderr } = io
    // A pack of the build is in bin/parts.
    const partsDir = __dirname
    const binDir = dirname(partsDir)
    const { command, tools } = invocationOf(env, relative(cwd, binDir) || '.')
    const parsed = parseOptions(OPTIONS, io)
    const status = handleSubcommandExit(OPTIONS, parsed, { ...io, progname: command })
    if (status !== undefined) return status
    const options = readOptions(parsed, BUILTIN_AGENTS, command)
    await addOwn(parsed, options.dir, io)
    const stop = new AbortController()
    const stopped = new Promise<void>((resolve) => {
      onAbort(stop.signal, resolve)
    })
    onAbort(signal, () => stop.abort())
    // This timer also keeps the process alive while all parts wait to be restarted.
    const look = (): void => {
      if (isOrphaned(env)) stop.abort()
    }
    every(PARENT_MS, look, (error) => stderr.write(`${progname}: ${String(error)}\n`))
    // Handled repeatedly: npm forwards the Ctrl-C that the terminal has already sent, which must not cut shutdown short.
    for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, () => stop.abort())
    // Ignores errors of a closed terminal or pipe: collecting and recording continue.
    for (const output of [process.stdout, process.stderr]) output.on('error', () => {})
    const manager = takeServiceManager(process.env, (problem) => stderr.write(`${progname}: ${problem}\n`))
    const started = await start(options, {
      env,
      binDir,
      partsDir,
      tools,
      platform: process.platform,
      say: (line) => process.stdout.write(`${loggable(line)}\n`),
      isTerminal: process.stdout.isTTY === true,
      isService: manager !== undefined,
      signal: stop.signal,
    }).catch((error: unknown) => {
      if (stop.signal.aborted) return undefined
      throw error
    })
    if (started === undefined) return 0
    await manager?.ready(started.summary)
    await stopped
    await Promise.all([manager?.stopping(), started.close()])
    return 0
  },
}

/** Adds the agents of --agent. A broken one is reported, and does not keep the others from running. */
async function addOwn({ given }: ParsedOptions, dir: string | undefined, io: ToolIo): Promise<void> {
  const files = given.filter(({ name }) => name === 'agent').map(({ value }) => value)
  if (files.length === 0) return
  const { addTo } = await import('../agent/verbs.ts')
  const { instanceOf, plainRequest } = await import('../agent/request.ts')
  const instance = await instanceOf(dir, io)
  for (const file of files) {
    try {
      await addTo(instance, plainRequest(file), io, true)
    } catch (error) {
      io.signal.throwIfAborted()
      io.stderr.write(`${io.progname}: --agent ${file}: ${PcpError.from(error).message}; not added\n`)
    }
  }
  await io.stdout.flush()
  await io.stderr.flush()
}

const shell = process.ppid

/** npm forwards SIGTERM only to its shell, which exits without notice; a new parent therefore means stop. */
function isOrphaned(env: NodeJS.ProcessEnv): boolean {
  return env['npm_lifecycle_event'] === 'start' && process.ppid !== shell
}
