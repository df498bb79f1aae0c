/** pcp-ts unlink: removes the links that `pcp-ts link` made. docs/how-to/install.md */
import { join } from 'node:path'
import { HELP_ROW, type OptionTable, parseOptions, VERSION_ROW } from '../lib/options.ts'
import { handleSubcommandExit } from '../lib/subcommand.ts'
import type { Tool } from '../lib/tool.ts'
import { installedBinDir, type LinkOwner, linksIn, ownerOf, removeLink } from './link/links.ts'
import { describeFailure, describeOwner, foreignPcpDirs, readPlace } from './link/places.ts'
import { classicNames } from './list.ts'

const OPTIONS: OptionTable = {
  synopsis: '[options] [DIR] [NAME ...]',
  operands: 'directory',
  rows: [
    { short: 'f', long: 'force', help: 'also remove links to another installation of this package' },
    { short: 'l', long: 'list', help: 'list the links of this package in DIR, and change nothing' },
    { short: 'n', long: 'dry-run', help: 'show what would be done, and change nothing' },
    VERSION_ROW,
    HELP_ROW,
  ],
}

/** Removes links of this package. */
export const tool: Tool = {
  name: 'pcp-ts-unlink',
  summary: 'Remove the names of commands from a directory',
  description: `
Removes the links that pcp-ts link made in DIR, ~/.local/bin by default: those to this installation, and those to installations that were
removed. Links to another installation are removed with --force. Nothing else is touched, and the directory stays.

A link is one of this package if it leads to a command of the same name in the bin folder of a package pcp-ts. Without NAMEs, all such
links in DIR are removed.`,
  examples: [
    ['pcp-ts unlink', 'All links in ~/.local/bin:'],
    ['pcp-ts unlink ~/bin pminfo', 'One of another directory:'],
  ],
  exitStatus: [[1, 'a named link was not removed, or an error with a message on standard error']],
  seeAlso: ['pcp-ts', 'pcp-ts-link'],
  options: OPTIONS,
  async run(io) {
    const parsed = parseOptions(OPTIONS, io)
    const status = handleSubcommandExit(OPTIONS, parsed, io)
    if (status !== undefined) return status
    const has = (letter: string): boolean => parsed.given.some(({ name }) => name === letter)
    const { dir, names } = readPlace(parsed.operands, classicNames((await io.commands?.()) ?? []), io, true)
    const binDir = installedBinDir(process.argv[1]!)
    const pcpDirs = foreignPcpDirs(io, binDir)
    const kinds: LinkOwner['kind'][] = has('f') ? ['ours', 'removed', 'other'] : ['ours', 'removed']
    const isDry = has('n') || has('l')
    let removedCount = 0
    let keptCount = 0
    try {
      for (const name of names ?? linksIn(dir)) {
        const path = join(dir, name)
        const owner = ownerOf(path, binDir)
        const isOfPackage = owner.kind !== 'foreign' && owner.kind !== 'missing'
        if (has('l')) {
          if (isOfPackage) io.stdout.write(`${name}: ${describeOwner(path, owner, pcpDirs)}\n`)
        } else if (isDry ? kinds.includes(owner.kind) : removeLink(path, binDir, kinds)) {
          removedCount++
          if (isDry) io.stdout.write(`Would remove ${path}\n`)
        } else if (names !== undefined || isOfPackage) {
          keptCount++
          const remedy = owner.kind === 'other' ? '; --force removes it' : ''
          io.stderr.write(
            `${io.progname}: ${name}: not removed: ${describeOwner(path, owner, pcpDirs)}${remedy}\n`,
          )
        }
      }
    } catch (error) {
      throw describeFailure(error, dir)
    }
    if (!isDry)
      io.stdout.write(`Removed ${removedCount === 1 ? '1 link' : `${removedCount} links`} from ${dir}\n`)
    return keptCount > 0 && names !== undefined ? 1 : 0
  },
}
