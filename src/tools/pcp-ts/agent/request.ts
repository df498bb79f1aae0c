/** The command line of pcp-ts agent, and the instance that it is about. */
import { existsSync, readFileSync, realpathSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { PcpError } from '../../../model/errors.ts'
import { createDirectories, planDirectories } from '../../../start/directories.ts'
import { loadConfig, parsePcpConf, type Variables } from '../../../sys/config.ts'
import { runningCollector } from '../../lib/agent-install/collector.ts'
import type { OwnInstance } from '../../lib/agent-install/own-agents.ts'
import { OWN_KINDS, type OwnKind } from '../../lib/agent-install/own-line.ts'
import { ownCollector } from '../../lib/agent-install/own-state.ts'
import { HELP_ROW, type OptionTable, type ParsedOptions, VERSION_ROW } from '../../lib/options.ts'
import type { ToolIo } from '../../lib/tool.ts'

export const OPTIONS: OptionTable = {
  synopsis: 'new|add|remove|list|check [options] [NAME|FILE ...]',
  operands: 'none',
  rows: [
    { heading: 'Options' },
    { long: 'dir', arg: 'DIR', help: 'the instance that pcp-ts start --dir DIR runs (default: your own)' },
    { long: 'kind', arg: 'KIND', help: 'daemon (default), thread, or dso' },
    {
      long: 'command',
      help: 'the operands are a program that serves the PDUs of agents by its standard input and output',
    },
    { long: 'name', arg: 'NAME', help: 'name of a program with --command (default: that of its file)' },
    {
      long: 'domain',
      arg: 'N',
      help: "domain number (default: the agent's own, else a free one, which is kept)",
    },
    { long: 'typescript', help: 'new: write TypeScript' },
    VERSION_ROW,
    HELP_ROW,
  ],
}

/** A parsed command line. */
export interface AgentRequest {
  readonly operands: readonly string[]
  readonly dir: string | undefined
  readonly kind: OwnKind
  readonly isCommand: boolean
  readonly name: string | undefined
  readonly domain: number | undefined
  readonly isTypeScript: boolean
}

/** Returns the request; adds what is wrong to `parsed.problems`. */
export function requestOf({
  given,
  operands,
  problems,
}: Pick<ParsedOptions, 'given' | 'operands' | 'problems'>): AgentRequest {
  const last = (name: string): string | undefined => given.findLast((option) => option.name === name)?.value
  const kind = OWN_KINDS.find((each) => each === (last('kind') ?? 'daemon'))
  if (kind === undefined) problems.push(`--kind ${last('kind')}: must be one of ${OWN_KINDS.join(', ')}`)
  const domain = last('domain')
  const isDomain =
    domain === undefined || (/^\d{1,3}$/.test(domain) && Number(domain) >= 1 && Number(domain) <= 510)
  if (!isDomain) problems.push(`--domain ${domain}: must be a number from 1 to 510`)
  const name = last('name')
  if (name !== undefined && !/^[A-Za-z]\w{0,63}$/.test(name))
    problems.push(`--name ${name}: must be a letter followed by letters, digits or _`)
  return {
    operands,
    dir: last('dir'),
    kind: kind ?? 'daemon',
    isCommand: last('command') !== undefined,
    name,
    domain: domain === undefined ? undefined : Number(domain),
    isTypeScript: last('typescript') !== undefined,
  }
}

/** Returns the request to add a file without options. */
export function plainRequest(file: string): AgentRequest {
  return requestOf({ given: [], operands: [file], problems: [] })
}

const SYSTEM_CONF = '/etc/pcp.conf'

/** Returns the instance of `dir`, or the user's own. Its settings are created if it has never been started. */
export async function instanceOf(dir: string | undefined, io: ToolIo): Promise<OwnInstance> {
  const variables = await instanceVariables(dir, io)
  const { signal } = io
  return {
    variables,
    control: runningCollector(variables, signal),
    collector: ownCollector(variables, signal),
    signal,
  }
}

/** Returns the variables of the instance's pcp.conf. */
export async function instanceVariables(dir: string | undefined, io: ToolIo): Promise<Variables> {
  const { env, cwd } = io
  const given = env['PCP_CONF']
  const path = dir === undefined && given ? resolve(cwd, given) : await plannedConf(dir, io)
  return loadConfig({ ...env, PCP_CONF: path }, { uid: process.getuid?.() ?? 0 }).variables
}

async function plannedConf(dir: string | undefined, { env, cwd, progname }: ToolIo): Promise<string> {
  const binDir = dirname(realpathSync(process.argv[1]!))
  const installed = existsSync(SYSTEM_CONF) ? parsePcpConf(readFileSync(SYSTEM_CONF, 'utf8')) : {}
  const place = planDirectories(dir === undefined ? undefined : resolve(cwd, dir), env, binDir, installed)
  if (!existsSync(place.confPath)) await createDirectories(place, { command: progname, records: false })
  return place.confPath
}

/** Returns the absolute path of a module. Throws ENOENT if it does not exist. */
export function moduleAt(file: string, { cwd }: Pick<ToolIo, 'cwd'>): string {
  const path = resolve(cwd, file)
  if (!existsSync(path))
    throw new PcpError('ENOENT', `There is no file ${path}; pcp-ts agent new NAME writes an agent`)
  return realpathSync(path)
}

/** Returns a command with the absolute path of its program and of a script that it is given by a path. */
export function commandAt([program = '', ...args]: readonly string[], io: ToolIo): readonly string[] {
  const found = program.includes('/')
    ? resolve(io.cwd, program)
    : (io.env['PATH'] ?? '')
        .split(':')
        .map((dir) => join(dir, program))
        .find((path) => existsSync(path))
  if (found === undefined || !existsSync(found))
    throw new PcpError('ENOENT', `There is no program ${found ?? `${program} on the PATH`}`)
  // The collector has another working directory.
  const script = args.findIndex((word) => !word.startsWith('-'))
  const words = args.map((word, i) =>
    i === script && existsSync(resolve(io.cwd, word)) ? resolve(io.cwd, word) : word,
  )
  return [found, ...words]
}

/** Shortens a path below the working directory, for messages. */
export function shown(path: string, { cwd }: Pick<ToolIo, 'cwd'>): string {
  const below = relative(cwd, path)
  return below.startsWith('..') ? path : `./${below}`
}
