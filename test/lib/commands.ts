/** How a user runs a command of the registry. */
import { resolve } from 'node:path'
import { TOOLS } from '../../src/tools/registry.ts'

/** Returns a command as it is typed: `pminfo`, or `pcp-ts start` for a subcommand. */
export function commandOf(name: string): string {
  const parent = TOOLS.find((entry) => entry.name === name)?.subcommandOf
  return parent === undefined ? name : `${parent} ${name.slice(parent.length + 1)}`
}

/** Returns the program in bin that runs a command, and its first argument if it is a subcommand. */
export function programOf(name: string): readonly string[] {
  const [program, ...words] = commandOf(name).split(' ')
  return [resolve('bin', program!), ...words]
}
