/**
 * pmlogger_merge: merges consecutive archives of one host. pmlogger_merge(1)
 *
 * With -f the inputs are removed in the same transaction that creates the output. Unlike the reference, it reports names without an
 * archive.
 */
import { existsSync, readdirSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { type ArchiveFile, archiveFilesIn, filesOfArchive } from '../archive-store/files.ts'
import { recover } from '../archive-store/transaction.ts'
import { matchesGlob } from '../base/glob.ts'
import { PcpError } from '../model/errors.ts'
import { loadConfig, type Variables } from '../sys/config.ts'
import { asParent } from '../sys/parent-process.ts'
import { dayBefore, dayName } from './lib/admin/archive-names.ts'
import { findProgram, runProgram } from './lib/admin/programs.ts'
import { HELP_ROW, handleEarlyExit, type OptionTable, parseOptions } from './lib/options.ts'
import type { Tool, ToolIo } from './lib/tool.ts'

const OPTIONS: OptionTable = {
  synopsis: '[options] [input-basename ... output-name]',
  operands: 'archive',
  rows: [
    { heading: 'Options' },
    { short: 'E', long: 'expunge', help: 'omit metrics with conflicting descriptors' },
    { short: 'f', long: 'force', help: 'remove the inputs when the output is complete' },
    { long: 'labelhost', arg: 'NAME', help: 'set the host of the output' },
    { short: 'N', long: 'showme', help: 'dry run: show what would be done' },
    { short: 'V', long: 'verbose', help: 'print progress' },
    HELP_ROW,
  ],
}

interface Input {
  /** Name passed to pmlogextract. */
  readonly base: string
  readonly files: readonly ArchiveFile[]
}

interface Settings {
  readonly expunges: boolean
  readonly labelHost: string | undefined
  readonly removes: boolean
  readonly showsOnly: boolean
  readonly isVerbose: boolean
}

/** Merges the named archives, or those of yesterday. */
export const tool: Tool = {
  name: 'pmlogger_merge',
  summary: 'Merge archives of one host into one',
  description: `
The inputs are base names of archives in time order, or shell patterns for them; the last operand is the name of the output. Between
archives of different runs of a recorder the output has a mark, as after any gap. Without operands, yesterday's archives in this
directory, YYYYMMDD.HH.MM, are merged into YYYYMMDD.`,
  examples: [
    ["pmlogger_merge -f '20261119.??.??' 20261119", 'Replace the archives of a day by a single one:'],
  ],
  seeAlso: ['pmlogextract', 'pmlogger_daily'],
  options: OPTIONS,
  shutsDownOnSignal: true,
  async run(io) {
    const parsed = parseOptions(OPTIONS, io)
    const { given, operands, problems } = parsed
    if (operands.length === 1) problems.push('input archives are required before the output')
    const status = handleEarlyExit(OPTIONS, parsed, io)
    if (status !== undefined) return status
    const has = (name: string): boolean => given.some((option) => option.name === name)
    const settings = {
      expunges: has('E'),
      labelHost: given.findLast(({ name }) => name === 'labelhost')?.value,
      removes: has('f'),
      showsOnly: has('N'),
      isVerbose: has('V'),
    }
    const yesterday = dayName(dayBefore(io.now()))
    const output = operands.at(-1) ?? yesterday
    const patterns = operands.length === 0 ? [`${yesterday}.??.??`] : operands.slice(0, -1)
    return await merge(patterns, output, settings, io, operands.length > 0)
  },
}

async function merge(
  patterns: readonly string[],
  output: string,
  settings: Settings,
  io: ToolIo,
  isAsked: boolean,
): Promise<number> {
  if (!settings.showsOnly) await recoverAll(patterns, io)
  const inputs = findInputs(patterns, io, isAsked)
  if (inputs.length === 0) {
    if (isAsked) io.stderr.write(`${io.progname}: Error: no archives to be merged\n`)
    else if (settings.isVerbose) io.stdout.write('No archives to be merged.\n')
    return isAsked ? 1 : 0
  }
  if (isTaken(output, io)) return 1
  if (settings.isVerbose)
    io.stdout.write(`Input archives to be merged:\n${inputs.map(({ base }) => `\t${base}\n`).join('')}`)
  const { expunges, labelHost } = settings
  const flags = [
    ...(expunges ? ['-x'] : []),
    ...(labelHost === undefined ? [] : [`--labelhost=${labelHost}`]),
  ]
  const operands = [...inputs.map(({ base }) => base), output]
  const args = [...(settings.removes ? ['--replace'] : []), ...flags, ...operands]
  const command = `pmlogextract ${flags.join(' ')} ${operands.join(' ')}`
  let status = 0
  if (settings.showsOnly) io.stdout.write(`+ ${command.replace('pmlogextract ', 'pmlogextract  ')}\n`)
  else status = await extract(args, command, io)
  if (settings.isVerbose && !settings.showsOnly) status = (await showOutput(output, io)) ? status : 1
  if (settings.removes && status === 0) showRemoval(inputs, settings, io)
  return status
}

/** Completes interrupted transactions in the directories of the inputs, some of which may already be removed. */
async function recoverAll(patterns: readonly string[], io: ToolIo): Promise<void> {
  for (const dir of new Set(patterns.map((pattern) => resolve(io.cwd, dirname(pattern))))) await recover(dir)
}

/** Runs pmlogextract, which leaves no files behind when it fails. */
async function extract(args: readonly string[], command: string, io: ToolIo): Promise<number> {
  const program = programOf('pmlogextract', loadConfig(io.env).variables)
  await io.stdout.flush()
  const status = await runProgram(program, args, {
    cwd: io.cwd,
    env: asParent(io.env),
    write: (text) => io.stdout.write(text),
    writeError: (text) => io.stderr.write(text),
  })
  if (status === 0) return 0
  io.stderr.write(
    `${io.progname}: Directory: ${io.cwd}\n${io.progname}: Failed: ${command}\n` +
      `${io.progname}: Trying to continue, although output archive may be corrupted.\n`,
  )
  return 1
}

function programOf(name: string, variables: Variables): string {
  const program = findProgram(name, variables)
  if (program === undefined) throw new PcpError('ENOENT', `Command ${name} not found`)
  return program
}

/** Returns the archives matching names and patterns, without duplicates; of a pattern, names without a number come first. */
function findInputs(patterns: readonly string[], io: ToolIo, isAsked: boolean): Input[] {
  const inputs = new Map<string, Input>()
  for (const pattern of patterns) {
    const bases = basesOf(pattern, io)
    if (bases.length === 0 && isAsked)
      io.stderr.write(`${io.progname}: Warning: no archive "${pattern}", left out\n`)
    for (const base of bases) {
      const files = filesOfArchive(resolve(io.cwd, base))
      const missing = ['meta', '0'].find((part) => !files.some((file) => file.part === part))
      // The first volume may be missing if old ones are removed; metadata must exist.
      if (missing === 'meta')
        io.stderr.write(`${io.progname}: Warning: "${base}" has no metadata, left out\n`)
      else if (!inputs.has(base)) inputs.set(base, { base, files })
    }
  }
  return [...inputs.values()]
}

function basesOf(pattern: string, io: ToolIo): string[] {
  const dir = dirname(pattern)
  const prefix = pattern.includes('/') ? `${dir}/` : ''
  const place = resolve(io.cwd, dir)
  if (!existsSync(place)) return []
  const name = basename(pattern)
  const bases = [...new Set(archiveFilesIn(place).map(({ base }) => base))]
  if (!/[*?[]/.test(name)) return bases.includes(name) ? [pattern] : []
  const matching = (glob: string): string[] => bases.filter((base) => matchesGlob(glob, base))
  return [...matching(name), ...matching(`${name}-[0-9][0-9]`)].map((base) => prefix + base)
}

/** Reports every existing file with the output's name. */
function isTaken(output: string, io: ToolIo): boolean {
  const dir = resolve(io.cwd, dirname(output))
  const present = existsSync(dir) ? new Set(readdirSync(dir)) : new Set<string>()
  const taken = (
    [
      ['index', 'index'],
      ['meta', 'meta'],
      ['0', 'volume 0'],
    ] as const
  ).filter(([part]) => present.has(`${basename(output)}.${part}`))
  for (const [, what] of taken)
    io.stderr.write(`${io.progname}: Error: "${what}" file already exists for output archive "${output}"\n`)
  if (taken.length === 0) return false
  io.stderr.write(`${io.progname}: These error(s) are fatal, no output archive has been created.\n`)
  return true
}

/** Lists the output; returns false if a part is missing. */
async function showOutput(output: string, io: ToolIo): Promise<boolean> {
  io.stdout.write('Output archive files:\n')
  let isWhole = true
  for (const part of ['meta', 'index', '0']) {
    const name = `${output}.${part}`
    if (existsSync(resolve(io.cwd, name))) {
      const write = (text: string): void => io.stdout.write(text)
      await runProgram('/bin/ls', ['-l', name], { cwd: io.cwd, env: io.env, write })
    } else {
      await io.stdout.flush()
      io.stderr.write(`${io.progname}: Error: file "${name}" not created\n`)
      isWhole = false
    }
  }
  return isWhole
}

/** Lists the inputs removed with the commit, or to be removed. */
function showRemoval(inputs: readonly Input[], { showsOnly, isVerbose }: Settings, io: ToolIo): void {
  if (isVerbose) io.stdout.write(`Removing input archive files ${showsOnly ? '...' : ''}`)
  for (const { base, files } of inputs) {
    const names = files.map(({ name }) => join(dirname(base), name))
    if (showsOnly) io.stdout.write(`+ rm -f ${names.join(' ')}\n`)
    else if (isVerbose) io.stdout.write('.'.repeat(names.length))
  }
  if (isVerbose) io.stdout.write(' done\n')
}
