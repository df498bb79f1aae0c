/**
 * pmfind: finds collectors and proxies on a network. pmfind(1)
 *
 * There is no mDNS: `all` searches only this host, and programs run only if requested. Each address has 0.2 seconds to answer,
 * PCP's default is 0.02. An unusable mechanism is an error with status 2.
 */
import { withSignal } from '../../base/with-signal.ts'
import { parseMechanism } from '../../discovery/mechanism.ts'
import { type FoundService, probe, urlOf } from '../../discovery/probe.ts'
import { PcpError } from '../../model/errors.ts'
import { loadConfig } from '../../sys/config.ts'
import {
  HELP_ROW,
  handleEarlyExit,
  type OptionTable,
  parseOptions,
  usageText,
  VERSION_ROW,
} from '../lib/options.ts'
import type { Tool, ToolIo } from '../lib/tool.ts'
import { sourcesAt } from './sources.ts'

const OPTIONS: OptionTable = {
  synopsis: '[options]',
  operands: 'none',
  rows: [
    { heading: 'Discovery options' },
    {
      short: 'm',
      long: 'mechanism',
      arg: 'NAME',
      kind: 'none',
      help: 'where to look: probe=ADDRESS/BITS, shell or all',
    },
    { short: 'r', long: 'resolve', help: 'show names of hosts, not addresses' },
    {
      short: 's',
      long: 'service',
      arg: 'NAME',
      kind: 'none',
      help: 'what to look for: pmcd, pmproxy or all',
    },
    {
      short: 't',
      long: 'timeout',
      arg: 'SEC',
      kind: 'none',
      help: 'stop after SEC seconds and show the results so far',
    },
    { heading: 'Reporting options' },
    { short: 'q', long: 'quiet', help: 'print nothing, only set the exit status' },
    { short: 'S', long: 'sources', help: 'show the sources of the collectors, each once' },
    { short: 'C', long: 'containers', help: 'like -S, with the containers on their hosts' },
    VERSION_ROW,
    HELP_ROW,
  ],
}

/** A service: URL scheme, default port, and the variable that overrides the port. */
interface Service {
  readonly name: string
  readonly scheme: string
  readonly port: number
  readonly variable: string
}

const SERVICES: readonly Service[] = [
  { name: 'pmcd', scheme: 'pcp', port: 44321, variable: 'PMCD_PORT' },
  { name: 'pmproxy', scheme: 'proxy', port: 44322, variable: 'PMPROXY_PORT' },
]

const STATUS = { found: 0, none: 1, error: 2 }

/** Looks for services. Exits with 0 if any were found, 1 if none, 2 if the search failed. */
export const tool: Tool = {
  name: 'pmfind',
  summary: 'Find collectors and proxies on the network',
  description: `
Tries to connect to the ports of the services: 44321 and 44322, or those in PMCD_PORT and PMPROXY_PORT. The mechanism selects the
hosts: probe=192.168.1.0/24 a subnet, shell the hosts listed by the programs in PCP_BINADM_DIR/discover, all (the default) only this
host. ",maxThreads=N" limits the number of simultaneous probes, ",timeout=SEC" the time for a reply; for shell, ",path=DIR" and
",command=NAME" select the programs.

With -S there is a line for each collector with its identifier, which does not depend on the address, and its host.`,
  examples: [
    ['pmfind -s pmcd -m probe=192.168.1.0/24', 'Find collectors in a subnet:'],
    ['pmfind -S -m shell,command=./my-hosts', 'Show the sources on hosts listed by a program:'],
  ],
  exitStatus: [
    [1, 'no services were found'],
    [2, 'the search failed'],
  ],
  seeAlso: ['pmcd'],
  options: OPTIONS,
  shutsDownOnSignal: true,
  async run(io) {
    const parsed = parseOptions(OPTIONS, io)
    const last = (letter: string): string | undefined =>
      parsed.given.findLast(({ name }) => name === letter)?.value
    const timeout = last('t')
    if (timeout !== undefined && !(Number(timeout) > 0))
      parsed.problems.push('-t requires a number of seconds')
    const status = handleEarlyExit(OPTIONS, parsed, io)
    if (status !== undefined) return status
    if (parsed.operands.length > 0) {
      io.stderr.write(usageText(OPTIONS, io.progname))
      return STATUS.none
    }
    const wanted = last('s') ?? 'all'
    const isSources = last('S') !== undefined || last('C') !== undefined
    const services = SERVICES.filter(
      ({ name }) => wanted === name || (wanted === 'all' && !(isSources && name !== 'pmcd')),
    )
    if (services.length === 0) {
      io.stdout.write(`No ${wanted} servers discovered\n`)
      return STATUS.none
    }
    const limits = {
      signals: [io.signal],
      ...(timeout === undefined ? {} : { timeoutMs: Number(timeout) * 1000 }),
    }
    const found = await withSignal(limits, (signal) => lookFor(services, last('m') ?? 'all', io, signal))
    if (found === undefined) return STATUS.error
    const isQuiet = last('q') !== undefined
    if (isSources) await showSources(found, { isQuiet, withContainers: last('C') !== undefined }, io)
    else if (!isQuiet) await showServices(found, last('r') !== undefined, io)
    return [...found.values()].some(({ length }) => length > 0) ? STATUS.found : STATUS.none
  },
}

/** Searches for each service; reports a failed search and returns undefined. */
async function lookFor(
  services: readonly Service[],
  mechanism: string,
  io: ToolIo,
  signal: AbortSignal,
): Promise<ReadonlyMap<Service, readonly FoundService[]> | undefined> {
  const all = new Map<Service, FoundService[]>()
  const say = (text: string): void => void io.stderr.write(`${io.progname}: Warning: ${text}\n`)
  for (const service of services) {
    const found = new Map<string, FoundService>()
    try {
      for (const one of parseMechanism(mechanism, loadConfig(io.env).variables, say))
        await probe(one, portsOf(service, io), (each) => found.set(urlOf(service.scheme, each), each), signal)
    } catch (error) {
      if (!(error instanceof PcpError)) throw error
      io.stderr.write(`${io.progname}: service ${service.name} discovery failure: ${error.message}\n`)
      return undefined
    }
    all.set(
      service,
      [...found].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, each]) => each),
    )
  }
  return all
}

function portsOf({ port, variable }: Service, { env }: ToolIo): readonly number[] {
  const ports = (env[variable] ?? '').split(',').map(Number)
  const valid = ports.filter((each) => Number.isInteger(each) && each > 0 && each < 65_536)
  return valid.length === 0 ? [port] : valid
}

async function showServices(
  found: ReadonlyMap<Service, readonly FoundService[]>,
  resolves: boolean,
  { stdout }: ToolIo,
): Promise<void> {
  for (const [{ name, scheme }, ones] of found) {
    if (ones.length === 0) stdout.write(`No ${name} servers discovered\n`)
    else stdout.write(`Discovered ${name} servers:\n`)
    for (const one of ones) stdout.write(`  ${urlOf(scheme, resolves ? await named(one) : one)}\n`)
  }
}

async function named(one: FoundService): Promise<FoundService> {
  const { lookupService } = process.getBuiltinModule('node:dns/promises')
  const found = await lookupService(one.address, one.port).catch(() => undefined) // no name for this address
  return found === undefined ? one : { ...one, address: found.hostname }
}

async function showSources(
  found: ReadonlyMap<Service, readonly FoundService[]>,
  { isQuiet, withContainers }: { readonly isQuiet: boolean; readonly withContainers: boolean },
  io: ToolIo,
): Promise<void> {
  if (isQuiet) return
  const shown = new Set<string>()
  for (const [{ scheme }, ones] of found)
    for (const one of ones)
      for (const { id, name } of await sourcesAt(urlOf(scheme, one), withContainers, io)) {
        if (!shown.has(id)) io.stdout.write(`${id} ${name}\n`)
        shown.add(id)
      }
}
