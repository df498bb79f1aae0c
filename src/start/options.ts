/** The command line of `npm start`. */
import { PcpError } from '../model/errors.ts'
import { parseSizeLimit } from '../pmlogger/sizes.ts'
import { HELP_ROW, type OptionTable, parseOptions, usageText } from '../tools/lib/options.ts'

/** What the user chose. */
export interface StartOptions {
  /** Port of the collector. */
  readonly port: number
  /** Port of the web side. */
  readonly webPort: number
  /** Where state goes; undefined: the user's own directories. */
  readonly dir: string | undefined
  /** Names of agents. */
  readonly agents: readonly string[]
  /** Those of them that run in threads of their own. */
  readonly threads: readonly string[]
  /** Addresses to listen on; undefined: loopback only. 'all': every interface. */
  readonly listen: readonly string[] | undefined
  /** Make archives. */
  readonly records: boolean
  /** Days after which an archive is removed. */
  readonly keepDays: number
  /** Bytes that archives may have together. */
  readonly keepBytes: number
}

/** Every collector's port. */
export const DEFAULT_PORT = 44321
const DEFAULT_WEB_PORT = 44323
const DEFAULT_AGENTS = 'jbd2,linux,mmv,node,pmcd,pmproxy,proc,simple,xfs'
const DEFAULT_KEEP_DAYS = '14'
const DEFAULT_KEEP_SIZE = '1Gb'

const TABLE: OptionTable = {
  synopsis: '[options]      (npm start -- [options])',
  rows: [
    { heading: 'Options' },
    { short: 'p', long: 'port', arg: 'N', help: `port of the collector (default ${DEFAULT_PORT})` },
    {
      long: 'web-port',
      arg: 'N',
      help: `port of the charts in the browser (default ${DEFAULT_WEB_PORT})`,
    },
    { long: 'dir', arg: 'DIR', help: 'keep logs, socket and settings there, not in your own directories' },
    { long: 'agents', arg: 'LIST', help: `agents, separated by commas, or all (default ${DEFAULT_AGENTS})` },
    { long: 'threads', arg: 'LIST', help: 'agents that run in threads of their own, or all; default: none' },
    { long: 'listen', arg: 'ADDR', help: 'listen on this address, or all, not on loopback alone' },
    { heading: 'Recording' },
    { long: 'no-record', help: 'only collect: make no archives' },
    {
      long: 'keep-days',
      arg: 'N',
      help: `remove archives that ended so many days ago (default ${DEFAULT_KEEP_DAYS})`,
    },
    {
      long: 'keep-size',
      arg: 'SIZE',
      help: `remove the oldest archives when all have more, as 500Mb (default ${DEFAULT_KEEP_SIZE})`,
    },
    HELP_ROW,
  ],
}

/**
 * Reads the command line. Returns the text to print instead when help was asked for. PM_ERR_ARG says what is wrong.
 * `known` are the names that --agents may list.
 */
export function readOptions(args: readonly string[], known: readonly string[]): StartOptions | string {
  const { given, operands, problems } = parseOptions(TABLE, { args, env: {} })
  if (given.some(({ name }) => name === HELP_ROW.short)) return usageText(TABLE, 'npm start')
  const [problem] = problems
  if (problem !== undefined)
    throw new PcpError('PM_ERR_ARG', `${problem}; npm start -- --help lists the options`)
  if (operands.length > 0)
    throw new PcpError('PM_ERR_ARG', `Unexpected "${operands[0]}"; npm start -- --help lists the options`)
  const last = (name: string): string | undefined => given.findLast((option) => option.name === name)?.value
  const listen = given.filter(({ name }) => name === 'listen').map(({ value }) => value)
  const agents = agentNames('--agents', last('agents') ?? DEFAULT_AGENTS, known)
  const threads = last('threads')
  return {
    port: portNumber('--port', last('p'), DEFAULT_PORT),
    webPort: portNumber('--web-port', last('web-port'), DEFAULT_WEB_PORT),
    dir: last('dir'),
    agents,
    threads: threads === undefined ? [] : agentNames('--threads', threads, agents),
    listen: listen.length === 0 ? undefined : listen,
    records: last('no-record') === undefined,
    keepDays: dayCount(last('keep-days') ?? DEFAULT_KEEP_DAYS),
    keepBytes: byteCount(last('keep-size') ?? DEFAULT_KEEP_SIZE),
  }
}

function dayCount(text: string): number {
  if (/^[1-9]\d{0,5}$/.test(text)) return Number(text)
  throw new PcpError('PM_ERR_ARG', `--keep-days ${text}: a number of days is at least 1`)
}

function byteCount(text: string): number {
  const limit = parseSizeLimit(text)
  if (limit?.kind === 'bytes') return limit.bytes
  throw new PcpError('PM_ERR_ARG', `--keep-size ${text}: a size is a number with its unit, as 500Mb or 2Gb`)
}

function portNumber(option: string, text: string | undefined, byDefault: number): number {
  if (text === undefined) return byDefault
  const port = Number(text)
  if (/^\d+$/.test(text) && port <= 65535) return port
  throw new PcpError('PM_ERR_ARG', `${option} ${text}: a port is a number from 0 to 65535`)
}

function agentNames(option: string, text: string, known: readonly string[]): readonly string[] {
  if (text === 'all') return known
  const names = [...new Set(text.split(',').filter((name) => name !== ''))]
  const unknown = names.find((name) => !known.includes(name))
  if (unknown !== undefined)
    throw new PcpError(
      'PM_ERR_ARG',
      `${option}: no agent is called "${unknown}"; there are ${known.join(', ')}`,
    )
  if (names.length === 0)
    throw new PcpError('PM_ERR_ARG', `${option}: name at least one of ${known.join(', ')}`)
  return names
}
