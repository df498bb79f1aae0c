/** pcp-ts link: puts the names of commands into a directory of the user's. docs/how-to/install.md */
import { realpathSync } from 'node:fs'
import { join } from 'node:path'
import { PcpError } from '../../../model/errors.ts'
import { makeDir } from '../../../sys/make-dir.ts'
import { HELP_ROW, type OptionTable, parseOptions, VERSION_ROW } from '../../lib/options.ts'
import { isSingleExecutable } from '../../lib/own-program.ts'
import { handleSubcommandExit } from '../../lib/subcommand.ts'
import type { Tool, ToolIo } from '../../lib/tool.ts'
import { balancedLines } from '../../lib/wrap.ts'
import { classicNames } from '../list.ts'
import {
  createLink,
  installedBinDir,
  type LinkOwner,
  ownerOf,
  programsNamed,
  removeLink,
  searchPath,
  versionIn,
} from './links.ts'
import { describeFailure, describeOwner, foreignPcpDirs, readPlace } from './places.ts'

/** Width of lists of names. */
const TEXT_WIDTH = 76

const OPTIONS: OptionTable = {
  synopsis: '[options] [DIR] [NAME ...]',
  operands: 'directory',
  rows: [
    { short: 'f', long: 'force', help: 'replace links to another installation of this package' },
    { short: 'l', long: 'list', help: 'show what each name is in DIR, and change nothing' },
    { short: 'n', long: 'dry-run', help: 'show what would be done, and change nothing' },
    VERSION_ROW,
    HELP_ROW,
  ],
}

/** Links commands by their names. */
export const tool: Tool = {
  name: 'pcp-ts-link',
  summary: 'Put the names of commands into a directory',
  description: `
Creates symbolic links to the commands of this package in DIR, ~/.local/bin by default, so that pminfo runs what pcp-ts pminfo runs. Without
NAMEs all commands are linked.

A name that exists is never overwritten. The command prints whose it is: this installation, another installation of pcp-ts, an installed PCP, or
another program. A link to an installation that was removed is replaced; one to another installation only with --force.

It also warns if DIR is not on the PATH, and if several directories of the PATH have a program of a linked name: the first one wins.

The links stay valid when npm upgrades the package. A link belongs to the installation that made it: after a change of the Node version with a
version manager, run this command again with --force. pcp-ts unlink removes the links.`,
  examples: [
    ['pcp-ts link', 'All names in ~/.local/bin:'],
    ['pcp-ts link ~/bin pminfo pmrep', 'Two names in another directory:'],
    ['pcp-ts link --list', 'What each name is now:'],
  ],
  exitStatus: [[1, 'a name was not linked, or an error with a message on standard error']],
  seeAlso: ['pcp-ts', 'pcp-ts-unlink', 'pcp-ts-man', 'pcp-ts-completion'],
  options: OPTIONS,
  async run(io) {
    const parsed = parseOptions(OPTIONS, io)
    const status = handleSubcommandExit(OPTIONS, parsed, io)
    if (status !== undefined) return status
    const has = (letter: string): boolean => parsed.given.some(({ name }) => name === letter)
    const known = classicNames((await io.commands?.()) ?? [])
    const { dir, names = known } = readPlace(parsed.operands, known, io)
    const binDir = installedBinDir(process.argv[1]!)
    const job: Job = { dir, names, binDir, pcpDirs: foreignPcpDirs(io, binDir), io }
    if (has('l')) return listNames(job)
    checkPlace(job)
    return linkNames(job, { isForced: has('f'), isDry: has('n') })
  },
}

interface Job {
  readonly dir: string
  readonly names: readonly string[]
  readonly binDir: string
  readonly pcpDirs: readonly string[]
  readonly io: ToolIo
}

function listNames({ dir, names, binDir, pcpDirs, io }: Job): number {
  const width = Math.max(...names.map((name) => name.length))
  for (const name of names) {
    const path = join(dir, name)
    io.stdout.write(`${name.padEnd(width)}  ${describeOwner(path, ownerOf(path, binDir), pcpDirs)}\n`)
  }
  return 0
}

/** Throws PcpError if links could not work. */
function checkPlace({ dir, binDir }: Job): void {
  if (process.platform === 'win32')
    throw new PcpError('ENOTSUP', 'Windows does not run linked scripts; run pcp-ts NAME instead')
  if (isSingleExecutable())
    throw new PcpError(
      'ENOTSUP',
      `This is the executable with all commands, which runs the one that it is called by: ln -s ${process.execPath} ${join(dir, 'pminfo')}`,
    )
  if (/\/_npx\//.test(binDir))
    throw new PcpError(
      'EINVAL',
      'npx keeps this package only for a while, and the links would break; install it first: npm install --global pcp-ts',
    )
  if (versionIn(join(binDir, '..')) === undefined)
    throw new PcpError('EINVAL', `${binDir} is not in an installed package; build and install pcp-ts first`)
  if (realOf(dir) === realOf(binDir))
    throw new PcpError('EINVAL', `${dir} is the folder of the commands themselves; name another directory`)
}

function realOf(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return path
  }
}

function linkNames(job: Job, { isForced, isDry }: { isForced: boolean; isDry: boolean }): number {
  const { dir, names, binDir, pcpDirs, io } = job
  const replaced: LinkOwner['kind'][] = isForced ? ['removed', 'other'] : ['removed']
  const linked: string[] = []
  const already: string[] = []
  let keptCount = 0
  try {
    if (!isDry) makeDir(dir)
    for (const name of names) {
      const path = join(dir, name)
      const owner = isDry ? ownerOf(path, binDir) : put(path, name, job, replaced)
      if (owner.kind === 'ours') already.push(name)
      else if (owner.kind === 'missing' || (isDry && replaced.includes(owner.kind))) linked.push(name)
      else {
        keptCount++
        const remedy = owner.kind === 'other' ? '; --force replaces it' : ''
        io.stderr.write(
          `${io.progname}: ${name}: not linked: ${describeOwner(path, owner, pcpDirs)}${remedy}\n`,
        )
      }
    }
  } catch (error) {
    throw describeFailure(error, dir)
  }
  const would = isDry ? 'Would link' : 'Linked'
  if (linked.length > 0) io.stdout.write(`${would} ${count(linked)} in ${dir}:\n${filled(linked)}`)
  if (already.length > 0) io.stdout.write(`Linked before: ${count(already)}\n`)
  warnOfPath({ ...job, names: [...linked, ...already] })
  return keptCount === 0 ? 0 : 1
}

/** Attempts to take a name that other processes keep changing. */
const MOST_ATTEMPTS = 10

/** Creates a link; returns 'missing' if it did, else the owner of what keeps the name. Throws EBUSY. */
function put(path: string, name: string, { dir, binDir }: Job, replaced: LinkOwner['kind'][]): LinkOwner {
  for (let attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
    if (createLink(dir, name, binDir)) return { kind: 'missing' }
    const owner = ownerOf(path, binDir)
    if (owner.kind === 'missing') continue // removed meanwhile
    if (!replaced.includes(owner.kind)) return owner
    removeLink(path, binDir, replaced)
  }
  throw new PcpError('EBUSY', `${path}: another process keeps changing it; run this again`)
}

const count = ({ length }: readonly string[]): string => (length === 1 ? '1 name' : `${length} names`)

const filled = (names: readonly string[]): string =>
  balancedLines(names, TEXT_WIDTH)
    .map((line) => `  ${line}\n`)
    .join('')

/** Warns if the names run other programs, or now hide them. */
function warnOfPath({ dir, names, pcpDirs, binDir, io }: Job): void {
  const warn = (text: string): void => io.stderr.write(`${io.progname}: warning: ${text}\n`)
  const dirs = searchPath(io.env['PATH'])
  const here = realOf(dir)
  const at = dirs.findIndex((each) => realOf(each) === here)
  if (at < 0) {
    warn(`${dir} is not on the PATH; add to ~/.profile: export PATH="${dir}:$PATH"`)
    return
  }
  const winners = new Map<string, string[]>()
  const hidden = new Map<string, string[]>()
  for (const name of names)
    for (const path of programsNamed(name, dirs)) {
      const folder = path.slice(0, -name.length - 1)
      if (realOf(folder) === here || ownerOf(path, binDir).kind === 'ours' || folder === binDir) continue
      const map = dirs.indexOf(folder) < at ? winners : hidden
      map.set(folder, [...(map.get(folder) ?? []), name])
    }
  const of = (folder: string): string =>
    pcpDirs.includes(folder) ? `the installed PCP in ${folder}` : folder
  for (const [folder, list] of winners)
    warn(
      `${of(folder)} comes before ${dir} on the PATH and wins for ${count(list)}:\n${filled(list)}`.trimEnd(),
    )
  for (const [folder, list] of hidden)
    warn(
      `the links hide ${count(list)} of ${of(folder)}; ${io.progname.replace(/link$/, 'unlink')} removes them:\n${filled(list)}`.trimEnd(),
    )
}
