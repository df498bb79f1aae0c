/** Parses pmcd.conf and its access file, collecting all errors. pmcd(1) */
import { PcpError } from '../model/errors.ts'
import { ConfigLexer, type Token } from '../net/access/lexer.ts'
import { type AccessStatement, parseAccess } from '../net/access/statements.ts'

/** One agent line. */
export type AgentConfig = DsoConfig | WorkerConfig | DaemonConfig | SocketConfig | PipeConfig

interface AgentLine {
  readonly name: string
  readonly domain: number
  readonly line: number
}

/** An agent in the collector's own process. */
export interface DsoConfig extends AgentLine {
  readonly kind: 'dso'
  readonly entry: string
  readonly path: string
}

/** An agent in a thread of the collector: a dso line whose entry has a prefix. docs/decisions/worker-agents.md */
export interface WorkerConfig extends AgentLine {
  readonly kind: 'worker'
  /** Without the prefix. */
  readonly entry: string
  readonly path: string
}

/** An agent of a module in its own process: a dso line whose entry has another prefix. docs/decisions/worker-agents.md */
export interface DaemonConfig extends AgentLine {
  readonly kind: 'daemon'
  /** Without the prefix. */
  readonly entry: string
  readonly path: string
}

/** An agent that listens on a socket; started by the collector if there is a command. */
export interface SocketConfig extends AgentLine {
  readonly kind: 'socket'
  readonly family: 'inet' | 'ipv6' | 'unix'
  /** Path of a unix socket, otherwise ''. */
  readonly path: string
  /** TCP port, otherwise 0. */
  readonly port: number
  readonly argv: readonly string[]
}

/** An agent that the collector starts, connected through its standard input and output. */
export interface PipeConfig extends AgentLine {
  readonly kind: 'pipe'
  readonly argv: readonly string[]
  readonly startsNotReady: boolean
}

/** A parsed configuration. */
export interface PmcdConfig {
  readonly agents: readonly AgentConfig[]
  readonly access: readonly AccessStatement[]
  /** Messages for the log, without `pmcd config`: `[line 3]: Error: ...`. */
  readonly problems: readonly string[]
  /** False when the collector must not start with it. An invalid agent line followed by a valid one is tolerated. */
  readonly isValid: boolean
}

/** System look-ups for parsing. */
export interface ConfigContext {
  /** Returns the port of a TCP service, as in /etc/services; undefined if unknown. */
  readonly servicePort?: (name: string) => number | undefined
}

/** Largest domain of an agent; 511 is reserved. */
const MAX_DOMAIN = 510
/** Prefixes of an entry that run the agent in a thread, or in its own process. No C function can have such a name. */
const PREFIXES = ['worker', 'daemon'] as const

/** Parses pmcd.conf. Never throws; errors are in `problems`. */
export function parseConfig(text: string, context: ConfigContext = {}): PmcdConfig {
  const agents: AgentConfig[] = []
  const problems: string[] = []
  let access: readonly AccessStatement[] = []
  let isValid = true
  try {
    const lexer = new ConfigLexer(text)
    for (;;) {
      const words = readLine(lexer)
      if (words === undefined) break
      if (words === 'section') {
        access = parseAccess(lexer, true)
        isValid = true
        break
      }
      try {
        agents.push(parseAgent(words, agents, context))
        isValid = true
      } catch (error) {
        problems.push(`[line ${words[0]!.line}]: Error: ${PcpError.from(error).message}`)
        isValid = false
      }
    }
  } catch (error) {
    problems.push(PcpError.from(error).message)
    isValid = false
  }
  return { agents, access, problems, isValid }
}

/** Parses the access file beside pmcd.conf, which has statements without a section header. */
export function parseAccessFile(text: string): Omit<PmcdConfig, 'agents'> {
  try {
    return { access: parseAccess(new ConfigLexer(text), false), problems: [], isValid: true }
  } catch (error) {
    return { access: [], problems: [PcpError.from(error).message], isValid: false }
  }
}

/** Returns the words of the next non-empty line; 'section' after the `[` that ends the agent lines; undefined at the end. */
function readLine(lexer: ConfigLexer): Token[] | 'section' | undefined {
  const words: Token[] = []
  for (;;) {
    const token = lexer.next(words.length === 0 ? '[' : '')
    if (token.kind === 'sign') return 'section'
    if (token.kind === 'word') words.push(token)
    else if (words.length > 0) return words
    else if (token.kind === 'end') return undefined
  }
}

function parseAgent(
  tokens: readonly Token[],
  earlier: readonly AgentConfig[],
  context: ConfigContext,
): AgentConfig {
  const [name, number, type, ...parameters] = tokens.map((token) => token.text)
  const domain = Number(number)
  if (number === undefined || !/^\d+$/.test(number)) fail(`expected domain number for "${name}" agent`)
  if (domain > MAX_DOMAIN) fail(`Illegal domain number (${domain}) for "${name}" agent`)
  const clash = earlier.find((agent) => agent.domain === domain)
  if (clash !== undefined) fail(`domain number for "${name}" agent clashes with "${clash.name}" agent`)
  const line = { name: name!, domain, line: tokens[0]!.line }
  switch (type?.toLowerCase()) {
    case 'dso':
      return parseDso(line, parameters)
    case 'socket':
      return parseSocket(line, parameters, context)
    case 'pipe':
      return parsePipe(line, parameters)
    default:
      return fail("expected `dso', `socket' or `pipe'")
  }
}

function parseDso(line: AgentLine, parameters: readonly string[]): DsoConfig | WorkerConfig | DaemonConfig {
  const [entry, path] = parameters
  if (entry === undefined) fail('expected DSO entry point')
  if (path === undefined) fail('expected DSO pathname')
  if (!path.startsWith('/')) fail(`path "${path}" to PMDA is not absolute`)
  if (parameters.length > 2) fail('too many parameters for DSO')
  const kind = PREFIXES.find((prefix) => entry.startsWith(`${prefix}:`))
  if (kind !== undefined) return { ...line, kind, entry: entry.slice(kind.length + 1), path }
  return { ...line, kind: 'dso', entry, path }
}

function parseSocket(line: AgentLine, parameters: readonly string[], context: ConfigContext): SocketConfig {
  const [familyWord, address, ...argv] = parameters
  const family = familyWord?.toLowerCase()
  if (family !== 'inet' && family !== 'ipv6' && family !== 'unix')
    fail("expected socket address domain (`inet', `ipv6', or `unix')")
  if (address === undefined) fail('expected socket port name or number')
  if (family === 'unix') return { ...line, kind: 'socket', family, path: address, port: 0, argv }
  const port = /^\d+$/.test(address) ? Number(address) : context.servicePort?.(address)
  if (port === undefined || port > 65535) fail(`failed to get port number for port name ${address}`)
  return { ...line, kind: 'socket', family, path: '', port, argv }
}

function parsePipe(line: AgentLine, parameters: readonly string[]): PipeConfig {
  const [protocol, ...rest] = parameters
  if (protocol?.toLowerCase() !== 'binary') fail("pipe PDU type expected (`binary')")
  const startsNotReady = rest[0]?.toLowerCase() === 'notready'
  const argv = startsNotReady ? rest.slice(1) : rest
  if (argv.length === 0) fail('command to create pipe agent expected.')
  return { ...line, kind: 'pipe', argv, startsNotReady }
}

function fail(message: string): never {
  throw new PcpError('PM_ERR_CONV', message)
}
