/** pcp-ts container: the entry point of our container image. docs/how-to/containers.md */

import { statSync } from 'node:fs'
import { dirname } from 'node:path'
import { every } from '../../../base/every.ts'
import { onAbort } from '../../../base/on-abort.ts'
import { loggable } from '../../../base/printable.ts'
import { PcpError } from '../../../model/errors.ts'
import { BUILTIN_AGENTS } from '../../../pmcd/open-agents.ts'
import { HELP_ROW, type OptionTable, parseOptions } from '../../lib/options.ts'
import { handleSubcommandExit } from '../../lib/subcommand.ts'
import type { Tool, ToolIo } from '../../lib/tool.ts'
import { DEFAULT_AGENTS } from '../start/options.ts'
import { type ContainerSettings, readEnvironment } from './environment.ts'
import { healthProblems } from './health.ts'

const OPTIONS: OptionTable = {
  synopsis: '[health]',
  operands: 'none',
  rows: [{ heading: 'General options' }, HELP_ROW],
}

/** Keeps the process alive while all services wait to be restarted. */
const ALIVE_MS = 60_000

/** Runs the services that the environment names, or checks them. */
export const tool: Tool = {
  name: 'pcp-ts-container',
  summary: 'Run the services of a container',
  description: `
The entry point of the container image. It runs the services that PCP_SERVICES names in the foreground, restarts those that end, writes all
logs to standard output, and stops in order on SIGTERM. All settings are environment variables, so that an image needs no files.

With the operand health it asks each server of the container, prints those that do not answer, and exits with 1 if there are any.`,
  examples: [
    ['PCP_SERVICES=pmcd,pmproxy pcp-ts container', 'Collect and serve, without recording:'],
    ['pcp-ts container health', 'Check the services of this container:'],
  ],
  environment: [
    ['PCP_SERVICES', 'services separated by commas (pmcd,pmie,pmlogger,pmproxy)'],
    ['PCP_DOMAIN_AGENTS', 'agents to run in addition to the usual ones'],
    ['HOST_MOUNT', "where the host's root is mounted; its metrics are reported instead of the container's"],
    [
      'KEY_SERVERS',
      'key servers to load archives into, and to answer queries over series from, e.g. valkey:6379',
    ],
    ['PCP_TS_DIR', 'directory of settings, archives and sockets (/var/lib/pcp-ts)'],
    ['PCP_TS_HOSTS', 'collectors to record, in a container without pmcd'],
    ['PCP_TS_NODES', 'DNS name whose addresses are collectors to record, with an optional port'],
    ['PCP_TS_LISTEN', 'addresses to listen on (all)'],
    ['PCP_TS_NAMES', 'names by which browsers and Grafana reach the web server'],
    ['PCP_TS_PORT', 'port of the collector (44321)'],
    ['PCP_TS_WEB_PORT', 'port of the web server (44322)'],
    ['PCP_TS_KEEP_DAYS', 'days after which an archive is removed (14)'],
    ['PCP_TS_KEEP_SIZE', 'size of all archives of a host above which the oldest are removed (1Gb)'],
  ],
  exitStatus: [[1, 'a setting is invalid, the collector cannot be started, or a service is not healthy']],
  seeAlso: ['pcp-ts-start', 'pmcd', 'pmlogger', 'pmproxy'],
  options: OPTIONS,
  shutsDownOnSignal: true,
  async run(io) {
    const parsed = parseOptions(OPTIONS, io)
    const early = handleSubcommandExit(OPTIONS, parsed, io)
    if (early !== undefined) return early
    const [verb, ...others] = parsed.operands
    if (others.length > 0 || (verb !== undefined && verb !== 'health'))
      throw new PcpError(
        'PM_ERR_ARG',
        `Unexpected "${others[0] ?? verb}"; ${io.progname} --help explains the usage`,
      )
    const settings = readEnvironment(io.env, {
      knownAgents: BUILTIN_AGENTS,
      defaultAgents: DEFAULT_AGENTS.split(','),
      isDirectory: (path) => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true,
    })
    return verb === 'health' ? checkHealth(settings, io) : runServices(settings, io)
  },
}

async function checkHealth(settings: ContainerSettings, { signal, stdout }: ToolIo): Promise<number> {
  const problems = await healthProblems(settings, signal)
  for (const problem of problems) stdout.write(`${loggable(problem)}\n`)
  return problems.length === 0 ? 0 : 1
}

async function runServices(settings: ContainerSettings, io: ToolIo): Promise<number> {
  const stop = new AbortController()
  const stopped = new Promise<void>((resolve) => {
    onAbort(stop.signal, resolve)
  })
  onAbort(io.signal, () => stop.abort())
  // A second signal must not cut the shutdown short.
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, () => stop.abort())
  for (const output of [process.stdout, process.stderr]) output.on('error', () => {})
  const say = (line: string): void => {
    process.stdout.write(`${loggable(line)}\n`)
  }
  for (const remark of settings.remarks) say(remark)
  say(`services: ${[...settings.services].join(', ')}`)
  const alive = every(
    ALIVE_MS,
    () => {},
    () => {},
  )
  // A pack of the build is in bin/parts.
  const services = { binDir: dirname(__dirname), partsDir: __dirname, signal: stop.signal, stopped, say }
  const hasCollector = settings.services.has('pmcd')
  try {
    if (hasCollector) await (await import('./own-collector.ts')).runOwnCollector(settings, services)
    else await (await import('./other-collectors.ts')).runOtherCollectors(settings, services)
    return 0
  } catch (error) {
    if (stop.signal.aborted) return 0
    throw error
  } finally {
    clearInterval(alive)
  }
}
