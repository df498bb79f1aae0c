/** pmhostname: prints the name of a host's address. pmhostname(1) */
import { hostname } from 'node:os'
import { HELP_ROW, handleEarlyExit, type OptionTable, parseOptions, usageText } from './lib/options.ts'
import type { Tool } from './lib/tool.ts'

const OPTIONS: OptionTable = {
  synopsis: '[hostname]',
  operands: 'host',
  rows: [{ heading: 'Options' }, HELP_ROW],
}

/** Prints the name of a host, by default of this one, according to the resolver. */
export const tool: Tool = {
  name: 'pmhostname',
  summary: 'Show the official name of a host',
  description: `
Finds the addresses of the host, and prints the name of the first address that has one. If there is none, or the host is unknown, it
prints the name as given; without an operand, the name of this host.`,
  examples: [['pmhostname 127.0.0.1', 'Show the name of an address:']],
  options: OPTIONS,
  async run(io) {
    const parsed = parseOptions(OPTIONS, io)
    const status = handleEarlyExit(OPTIONS, parsed, io)
    if (status !== undefined) return status
    const [host = hostname(), ...others] = parsed.operands
    if (others.length > 0) {
      io.stderr.write(usageText(OPTIONS, io.progname))
      return 1
    }
    io.stdout.write(`${await officialName(host)}\n`)
    return 0
  },
}

async function officialName(host: string): Promise<string> {
  const { lookup, lookupService } = process.getBuiltinModule('node:dns/promises')
  const addresses = await lookup(host, { all: true }).catch(() => []) // an unknown host keeps its name
  for (const { address } of addresses) {
    const name = await lookupService(address, 0).then(
      (found) => found.hostname,
      () => address,
    )
    if (name !== address) return name
  }
  return host
}
