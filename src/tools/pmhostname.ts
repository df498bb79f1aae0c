/** pmhostname: the name that a host's address has. pmhostname(1) */
import { hostname } from 'node:os'
import { endEarly, HELP_ROW, type OptionTable, parseOptions, usageText } from './lib/options.ts'
import type { Tool } from './lib/tool.ts'

const OPTIONS: OptionTable = {
  synopsis: '[hostname]',
  operands: 'host',
  rows: [{ heading: 'Options' }, HELP_ROW],
}

/** Prints the name of a host, by default this one, as the resolver has it. */
export const tool: Tool = {
  name: 'pmhostname',
  summary: 'Show the official name of a host',
  description: `
Finds the addresses of the host, and prints the name that the first of them with a name has. Where there is none, or the host is
unknown, its name is printed as it was given; without operand, the name of this host.`,
  examples: [['pmhostname 127.0.0.1', 'What is this address called?']],
  options: OPTIONS,
  async run(io) {
    const parsed = parseOptions(OPTIONS, io)
    const status = endEarly(OPTIONS, parsed, io)
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
  const addresses = await lookup(host, { all: true }).catch(() => []) // a host that nobody knows keeps its name
  for (const { address } of addresses) {
    const name = await lookupService(address, 0).then(
      (found) => found.hostname,
      () => address,
    )
    if (name !== address) return name
  }
  return host
}
