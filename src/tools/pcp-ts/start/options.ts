/** The command line of `pcp-ts start`. */
import { PcpError } from '../../../model/errors.ts'
import { parseSizeLimit } from '../../../pmlogger/sizes.ts'
import { DEFAULT_PORT, type StartOptions } from '../../../start/settings.ts'
import type { Variables } from '../../../sys/config.ts'
import { HELP_ROW, type OptionTable, type ParsedOptions } from '../../lib/options.ts'

const DEFAULT_WEB_PORT = 44323
/** Agents that run without being named. */
export const DEFAULT_AGENTS = 'jbd2,linux,mmv,node,pmcd,pmproxy,proc,root,simple,xfs'
const DEFAULT_KEEP_DAYS = '14'
const DEFAULT_KEEP_SIZE = '1Gb'

/** The options, for the parser and for documents. */
export const OPTIONS: OptionTable = {
  synopsis: '[options]',
  operands: 'none',
  rows: [
    { heading: 'Options' },
    { short: 'p', long: 'port', arg: 'N', help: `port of the collector (default ${DEFAULT_PORT})` },
    {
      long: 'web-port',
      arg: 'N',
      help: `port of the charts in the browser (default ${DEFAULT_WEB_PORT})`,
    },
    {
      long: 'web-listen',
      arg: 'ADDR',
      help: 'serve charts on this address, or on all; default: as --listen',
    },
    {
      long: 'dir',
      arg: 'DIR',
      help: 'keep logs, socket and settings here instead of in your own directories',
    },
    {
      long: 'system-dirs',
      help: "use the directories of the system's service: /etc/pcp-ts, /var/lib/pcp-ts, /var/log/pcp-ts, /run/pcp-ts",
    },
    { long: 'agents', arg: 'LIST', help: `agents, separated by commas, or all (default ${DEFAULT_AGENTS})` },
    { long: 'agent', arg: 'FILE', help: 'add an agent of your own, until pcp-ts agent remove; repeatable' },
    { long: 'threads', arg: 'LIST', help: 'agents to run in threads, or all; default: none' },
    { long: 'listen', arg: 'ADDR', help: 'listen on this address, or on all, instead of loopback only' },
    { long: 'no-web', help: 'collect without charts and REST API' },
    { long: 'no-alerts', help: 'do not evaluate the rules that raise alerts' },
    { heading: 'Recording' },
    { long: 'no-record', help: 'collect without recording archives' },
    {
      long: 'keep-days',
      arg: 'N',
      help: `remove archives N days after their end (default ${DEFAULT_KEEP_DAYS})`,
    },
    {
      long: 'keep-size',
      arg: 'SIZE',
      help: `remove the oldest archives above this total size, e.g. 500Mb (default ${DEFAULT_KEEP_SIZE})`,
    },
    HELP_ROW,
  ],
}

/** How npm or npx runs us, up to the options of `start`, and before the name of another command. */
export interface Invocation {
  /** `pcp-ts start`, `npx pcp-ts start`, or `npm start --` in a checkout. */
  readonly command: string
  /** What precedes the name of another command of this package. */
  readonly tools: string
}

/** Returns how the user has started this command, for messages that advise what to run. `bin` is the folder of our commands. */
export function invocationOf(env: Variables, bin: string): Invocation {
  if (env['npm_lifecycle_event'] === 'start') return { command: 'npm start --', tools: `${bin}/` }
  // npx names the command that it runs; below it other programs run too.
  const npx =
    env['npm_lifecycle_event'] === 'npx' && /^"?pcp-ts\b/.test(env['npm_lifecycle_script'] ?? '')
      ? 'npx '
      : ''
  return { command: `${npx}pcp-ts start`, tools: `${npx}pcp-ts ` }
}

/**
 * Returns the options of a parsed command line. Throws PM_ERR_ARG for invalid values. `known` are the names that --agents may list,
 * `command` is that of Invocation.
 */
export function readOptions(
  { given, operands }: Pick<ParsedOptions, 'given' | 'operands'>,
  known: readonly string[],
  command: string,
): StartOptions {
  if (operands.length > 0)
    throw new PcpError('PM_ERR_ARG', `Unexpected "${operands[0]}"; ${command} --help lists the options`)
  const last = (name: string): string | undefined => given.findLast((option) => option.name === name)?.value
  const addresses = (option: string): readonly string[] | undefined => {
    const values = given.filter(({ name }) => name === option).map(({ value }) => value)
    return values.length === 0 ? undefined : values
  }
  const usesSystemDirs = last('system-dirs') !== undefined
  if (usesSystemDirs && last('dir') !== undefined)
    throw new PcpError('PM_ERR_ARG', '--dir and --system-dirs both name the directories: choose one')
  const agents = agentNames('--agents', last('agents') ?? DEFAULT_AGENTS, known)
  const threads = last('threads')
  return {
    command,
    port: portNumber('--port', last('p'), DEFAULT_PORT),
    charts: last('no-web') === undefined,
    alerts: last('no-web') === undefined && last('no-alerts') === undefined,
    webListen: addresses('web-listen'),
    webPort: portNumber('--web-port', last('web-port'), DEFAULT_WEB_PORT),
    dir: last('dir'),
    usesSystemDirs,
    agents,
    threads: threads === undefined ? [] : agentNames('--threads', threads, agents),
    listen: addresses('listen'),
    logsToOutput: false,
    records: last('no-record') === undefined,
    keepDays: dayCount(last('keep-days') ?? DEFAULT_KEEP_DAYS),
    keepBytes: byteCount(last('keep-size') ?? DEFAULT_KEEP_SIZE),
  }
}

function dayCount(text: string): number {
  if (/^[1-9]\d{0,5}$/.test(text)) return Number(text)
  throw new PcpError('PM_ERR_ARG', `--keep-days ${text}: must be at least 1`)
}

function byteCount(text: string): number {
  const limit = parseSizeLimit(text)
  if (limit?.kind === 'bytes') return limit.bytes
  throw new PcpError('PM_ERR_ARG', `--keep-size ${text}: must be a number with its unit, e.g. 500Mb or 2Gb`)
}

function portNumber(option: string, text: string | undefined, byDefault: number): number {
  if (text === undefined) return byDefault
  const port = Number(text)
  if (/^\d+$/.test(text) && port <= 65535) return port
  throw new PcpError('PM_ERR_ARG', `${option} ${text}: must be a number from 0 to 65535`)
}

function agentNames(option: string, text: string, known: readonly string[]): readonly string[] {
  if (text === 'all') return known
  const names = [...new Set(text.split(',').filter((name) => name !== ''))]
  const unknown = names.find((name) => !known.includes(name))
  if (unknown !== undefined)
    throw new PcpError(
      'PM_ERR_ARG',
      `${option}: no agent is called "${unknown}"; use one of ${known.join(', ')}`,
    )
  if (names.length === 0)
    throw new PcpError('PM_ERR_ARG', `${option}: name at least one of ${known.join(', ')}`)
  return names
}
