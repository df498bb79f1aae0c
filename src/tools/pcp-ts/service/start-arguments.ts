/** The arguments of `pcp-ts start` in the unit. */
import { isIPv6 } from 'node:net'
import { PcpError } from '../../../model/errors.ts'
import { BUILTIN_AGENTS } from '../../../pmcd/open-agents.ts'
import type { StartOptions } from '../../../start/settings.ts'
import { parseOptions } from '../../lib/options.ts'
import { OPTIONS, readOptions } from '../start/options.ts'
import type { ServiceArguments } from './options.ts'

/** Options of `pcp-ts start` that install passes on. */
const PASSED = ['port', 'agents', 'threads', 'listen', 'keep-days', 'keep-size']

/** A command line of `pcp-ts start`, checked. */
export interface StartCommand {
  readonly args: readonly string[]
  readonly options: StartOptions
}

/** Returns the command line that runs the service. Throws PM_ERR_ARG for values that `pcp-ts start` would reject. */
export function startCommand(given: ServiceArguments, command: string): StartCommand {
  const rest = PASSED.flatMap((name) => given.values(name).map((value) => `--${name}=${value}`))
  const web = given.value('web')
  if (given.scope === 'system') rest.unshift('--system-dirs')
  if (!given.has('record')) rest.push('--no-record')
  rest.push(...(web === undefined ? ['--no-web'] : webArguments(web, given.has('listen'))))
  const parsed = parseOptions(OPTIONS, { args: rest, env: {} })
  const [problem] = parsed.problems
  if (problem !== undefined) throw new PcpError('PM_ERR_ARG', problem)
  return { args: ['start', ...rest], options: readOptions(parsed, BUILTIN_AGENTS, command) }
}

/** Converts the value of --web. @param listens the collector has addresses of its own, which would also hold for the charts */
function webArguments(text: string, listens: boolean): readonly string[] {
  const { host, port } = splitAddress(text)
  const addresses = host === 'localhost' ? (listens ? ['127.0.0.1'] : []) : [host]
  return [
    ...addresses.map((address) => `--web-listen=${address}`),
    ...(port === undefined ? [] : [`--web-port=${port}`]),
  ]
}

/** Splits `host`, `port`, `host:port`, `[v6]:port` and `v6`. */
export function splitAddress(text: string): { readonly host: string; readonly port: string | undefined } {
  if (/^\d+$/.test(text)) return { host: 'localhost', port: text }
  if (isIPv6(text)) return { host: text, port: undefined }
  const found = /^(?:\[([^\]]+)\]|([^:[\]\s]*))(?::(\d+))?$/.exec(text)
  if (found === null || text === '')
    throw new PcpError(
      'PM_ERR_ARG',
      `--web ${text}: must be localhost, all, an address, a port, or ADDRESS:PORT`,
    )
  return { host: found[1] || found[2] || 'localhost', port: found[3] }
}
