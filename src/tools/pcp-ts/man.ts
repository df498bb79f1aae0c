/** pcp-ts man: shows the man page of a command. docs/how-to/install.md */
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { PcpError } from '../../model/errors.ts'
import { manPage } from '../lib/man.ts'
import { manText } from '../lib/man-text.ts'
import { HELP_ROW, type OptionTable, parseOptions, VERSION_ROW } from '../lib/options.ts'
import { ownBinDir } from '../lib/own-program.ts'
import { runProgram } from '../lib/run-program.ts'
import { didYouMean, similarNames } from '../lib/similar-names.ts'
import { handleSubcommandExit } from '../lib/subcommand.ts'
import type { CommandEntry, Tool, ToolIo } from '../lib/tool.ts'
import { programsNamed, searchPath } from './link/links.ts'
import { classicNames } from './list.ts'

const DEFAULT_WIDTH = 80
const MOST_WIDTH = 100

const OPTIONS: OptionTable = {
  synopsis: '[options] [NAME]',
  operands: 'command',
  rows: [
    { short: 'p', long: 'plain', help: 'print plain text, without man and without a pager' },
    VERSION_ROW,
    HELP_ROW,
  ],
}

/** Shows a page through man(1), or formatted here. */
export const tool: Tool = {
  name: 'pcp-ts-man',
  summary: 'Show the man page of a command',
  description: `
Shows the page of a subcommand of pcp-ts or of any command of this package, of pcp-ts itself without NAME. A global installation puts only the
pages of pcp-ts and its subcommands where man finds them, as those of the other commands would collide with an installed PCP's.

Without the program man, the page is formatted as plain text, and shown through the program PAGER, less or more if the output is a terminal.`,
  examples: [
    ['pcp-ts man pmrep', 'The page of pmrep:'],
    ['pcp-ts man link', 'The page of the subcommand link:'],
  ],
  environment: [['PAGER', 'program that shows text page by page']],
  seeAlso: ['pcp-ts', 'pcp-ts-help'],
  options: OPTIONS,
  shutsDownOnSignal: true,
  async run(io) {
    const parsed = parseOptions(OPTIONS, io)
    if (parsed.operands.length > 1) parsed.problems.push('Too many names')
    const status = handleSubcommandExit(OPTIONS, parsed, io)
    if (status !== undefined) return status
    const commands = (await io.commands?.()) ?? []
    const entry = findEntry(parsed.operands[0] ?? 'pcp-ts', commands)
    const isPlain = parsed.given.some(({ name }) => name === 'p')
    const dirs = searchPath(io.env['PATH'])
    const file = join(ownBinDir(), '..', 'dist', 'man', 'man1', `${entry.name}.1`)
    const [man] = isPlain ? [] : programsNamed('man', dirs)
    // Every man(1) takes a name with a slash as a file; not all have the option -l.
    if (man !== undefined && existsSync(file)) return runProgram(man, { ...io, args: [file] })
    const known = new Set(commands.map(({ name }) => name))
    const width = Math.min(Number(io.env['COLUMNS']) || process.stdout.columns || DEFAULT_WIDTH, MOST_WIDTH)
    const text = manText(manPage({ ...(await entry.load()), name: entry.name }, known), width)
    if (isPlain || !io.stdout.isTerminal || !(await showInPager(text, dirs, io))) io.stdout.write(text)
    return 0
  },
}

/** Finds a subcommand or command. Throws ENOENT, with a suggestion. */
export function findEntry(name: string, commands: readonly CommandEntry[]): CommandEntry {
  const found =
    commands.find((each) => each.name === `pcp-ts-${name}` && each.subcommandOf !== undefined) ??
    commands.find((each) => each.name === name)
  if (found !== undefined) return found
  const classic = classicNames(commands)
  if (classic.includes(name))
    throw new PcpError('ENOENT', `${name} has no page of its own; pcp-ts ${name} --help shows its options`)
  const words = [...commands.map((each) => each.name.replace(/^pcp-ts-/, '')), ...classic]
  throw new PcpError(
    'ENOENT',
    `Unknown command "${name}".${didYouMean(similarNames(name, words))} pcp-ts without arguments lists all commands.`,
  )
}

/** Shows text page by page; returns false if no pager could be run. */
async function showInPager(text: string, dirs: readonly string[], io: ToolIo): Promise<boolean> {
  const command = io.env['PAGER'] || ['less', 'more'].find((name) => programsNamed(name, dirs).length > 0)
  if (command === undefined) return false
  const child = spawn('/bin/sh', ['-c', command], {
    stdio: ['pipe', 'inherit', 'inherit'],
    env: { ...io.env },
  })
  child.stdin.on('error', () => {}) // the user has left the pager
  child.stdin.end(text)
  return new Promise((resolve) => {
    child.once('error', () => resolve(false))
    // The shell's status of a program that does not exist or cannot be run.
    child.once('close', (status) => resolve(status !== 126 && status !== 127))
  })
}
