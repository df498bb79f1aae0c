/**
 * pmlogger_rewrite: many archives are changed by pmlogrewrite where they are, compressed ones too. pmlogger_rewrite(1)
 *
 * An archive is rewritten in a staging directory, and its changed files replace the old ones in one step: until then readers see the old
 * ones, and a failure leaves them unharmed.
 */
import { existsSync, mkdirSync, renameSync, statSync } from 'node:fs'
import { copyFile } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { parseFileName } from '../archive/file-names.ts'
import { haveSameContent, makeLike } from '../archive-store/copy.ts'
import { type ArchiveFile, archiveFilesIn, filesOfArchive, markArchive } from '../archive-store/files.ts'
import { Transaction } from '../archive-store/transaction.ts'
import { PcpError } from '../model/errors.ts'
import { loadConfig, type Variables } from '../sys/config.ts'
import { decompressFile } from '../sys/decompress.ts'
import { asParent } from '../sys/parent-process.ts'
import { compressorOfSuffix } from './lib/admin/compress.ts'
import { findProgram, type RunOptions, runProgram } from './lib/admin/programs.ts'
import { realPath, runningLoggers } from './lib/admin/running.ts'
import { endEarly, HELP_ROW, type OptionTable, parseOptions } from './lib/options.ts'
import type { Tool, ToolIo } from './lib/tool.ts'

const OPTIONS: OptionTable = {
  synopsis: '[options] archive ...',
  operands: 'archive',
  rows: [
    { heading: 'Options' },
    { short: 'c', long: 'config', arg: 'PATH', help: 'rules, of a file or of all files of a directory' },
    { short: 'd', long: 'desperate', help: 'keep what was written when something goes wrong' },
    { short: 'N', long: 'showme', help: 'show what would be done, and do nothing' },
    { short: 's', long: 'scale', help: 'convert values where only the scale of their units changes' },
    { short: 'V', long: 'verbose', help: 'say what is done; twice for more' },
    { short: 'v', help: 'have pmlogrewrite say what it does' },
    { short: 'w', long: 'warnings', help: 'have pmlogrewrite warn of rules that change nothing' },
    HELP_ROW,
  ],
}

interface Settings {
  /** For pmlogrewrite. */
  readonly args: readonly string[]
  readonly shown: string
  readonly showsOnly: boolean
  readonly verbosity: number
  readonly variables: Variables
}

/** Rewrites the archives that names, files and directories stand for. Status 1 when one could not be. */
export const tool: Tool = {
  name: 'pmlogger_rewrite',
  summary: 'Change archives in place with pmlogrewrite',
  description: `
Operands are archives, files of archives, or directories of which all archives are meant. Archives that are being written are left
alone. Files that were compressed are so again, and keep their age, so that they are removed when they would have been.`,
  examples: [
    ['pmlogger_rewrite -c fix.conf /var/log/pcp/pmlogger/db1', 'The same rules for all archives of a host:'],
  ],
  seeAlso: ['pmlogrewrite', 'pmlogger_daily'],
  options: OPTIONS,
  endsInOrder: true,
  async run(io) {
    const parsed = parseOptions(OPTIONS, io)
    const wantsHelp = parsed.given.some(({ name }) => name === '?')
    if (parsed.operands.length === 0 && !wantsHelp) parsed.problems.push('which archives?')
    const status = endEarly(OPTIONS, parsed, io)
    if (status !== undefined) return status
    const settings = settingsOf(parsed.given, io)
    const bases = findArchives(parsed.operands, settings, io)
    if (bases.length === 0) io.stdout.write('Warning: no PCP archives found\n')
    let hasFailed = false
    for (const base of bases) if (!(await rewriteOne(base, settings, io))) hasFailed = true
    return hasFailed ? 1 : 0
  },
}

function settingsOf(given: readonly { name: string; value: string }[], io: ToolIo): Settings {
  const has = (name: string): boolean => given.some((option) => option.name === name)
  const config = given.findLast(({ name }) => name === 'c')?.value
  const flags = ['s', 'w', 'd', 'v'].filter(has).map((letter) => `-${letter}`)
  return {
    args: ['-iq', ...(config === undefined ? [] : ['-c', resolve(io.cwd, config)]), ...flags],
    shown: ['pmlogrewrite -iq', ...(config === undefined ? [] : [`-c "${config}"`]), ...flags].join(' '),
    showsOnly: has('N'),
    verbosity: given.filter(({ name }) => name === 'V').length,
    variables: loadConfig(io.env).variables,
  }
}

/** Base names, each once, in the order of the operands. */
function findArchives(operands: readonly string[], { verbosity }: Settings, io: ToolIo): string[] {
  const found: string[] = []
  const tell = (text: string): void => {
    if (verbosity >= 2) io.stdout.write(`${text}\n`)
  }
  const add = (base: string): void => {
    if (found.includes(base)) tell(`${base}: duplicate, already in archives list`)
    else found.push(base)
  }
  const addFile = (path: string, base: string): void => {
    tell(`suffix stripping: arg: ${path} -> ${base}`)
    add(base)
  }
  for (const operand of operands) {
    const path = resolve(io.cwd, operand)
    const stats = statSync(path, { throwIfNoEntry: false })
    if (stats?.isDirectory() === true) {
      for (const { name, base } of archiveFilesIn(path)) addFile(join(operand, name), join(operand, base))
      continue
    }
    const parsed = parseFileName(basename(operand))
    if (stats?.isFile() === true && parsed !== undefined)
      addFile(operand, join(dirname(operand), parsed.base))
    else if (filesOfArchive(path).length > 0) add(operand)
    else io.stdout.write(`Warning: ${operand}: not a PCP archive name\n`)
  }
  return found
}

/** False when the archive could not be rewritten, which was told. */
async function rewriteOne(base: string, settings: Settings, io: ToolIo): Promise<boolean> {
  if (settings.showsOnly) {
    io.stdout.write(`+ check ${base} not active and OK\n+ ${settings.shown} ${base}\n`)
    return true
  }
  const path = resolve(io.cwd, base)
  try {
    if (!(await isUsable(base, settings, io))) return false
    const marks = await markArchive(path)
    const files = filesOfArchive(path)
    const transaction = new Transaction(dirname(path), { signal: io.signal })
    try {
      for (const mark of marks) transaction.expect(mark)
      const work = join(transaction.staging(), basename(path))
      for (const { name, part } of files) await unpack(join(dirname(path), name), `${work}.${part}`)
      const before = files.map(({ part }) => statSync(`${work}.${part}`).ino)
      const args = [...settings.args, work]
      if ((await runProgram(program('pmlogrewrite', settings), args, outputOf(settings, io))) !== 0) {
        io.stdout.write(`Error: pmlogrewrite failed for ${base}, which stays as it is\n`)
        return false
      }
      // With -q it replaces no file when nothing changes.
      if (files.every(({ part }, i) => statSync(`${work}.${part}`).ino === before[i])) return true
      const lines = await stageChanged(base, files, work, transaction, settings)
      await transaction.commit()
      if (settings.verbosity > 0) io.stdout.write(lines.map((line) => `${line}\n`).join(''))
      return true
    } finally {
      transaction.abandon()
    }
  } catch (error) {
    if (io.signal.aborted) throw error
    io.stdout.write(`Error: ${base}: ${PcpError.from(error).message}\n`)
    return false
  }
}

function program(name: string, { variables }: Settings): string {
  const path = findProgram(name, variables)
  if (path === undefined) throw new PcpError('ENOENT', `Cannot find the command ${name}`)
  return path
}

function outputOf({ variables }: Settings, io: ToolIo): RunOptions {
  return {
    cwd: io.cwd,
    env: asParent(variables),
    write: (text) => io.stdout.write(text),
    writeError: (text) => io.stderr.write(text),
  }
}

/** Can its label be read, and does nobody write it? */
async function isUsable(base: string, settings: Settings, io: ToolIo): Promise<boolean> {
  const writer = runningLoggers(settings.variables).find(
    ({ archive }) => archive === realPath(resolve(io.cwd, base)),
  )
  if (writer !== undefined) {
    io.stdout.write(`Warning: ${base}: pmlogger process ${writer.pid} is writing it, left alone\n`)
    return false
  }
  let label = ''
  const options = {
    ...outputOf(settings, io),
    write: (text: string) => {
      label += text
    },
  }
  // With -L the whole of the label, and with -l the time of the last record: both must be readable.
  for (const option of ['-L', '-l']) await runProgram(program('pmdumplog', settings), [option, base], options)
  if (/PID for pmlogger: \d+/.test(label)) return true
  io.stdout.write(`Botch: cannot get pmlogger PID from label record for ${base}\n`)
  return false
}

/** Copies a file, decompressed where it is compressed. */
async function unpack(from: string, to: string): Promise<void> {
  if (parseFileName(from)?.suffix === '') await copyFile(from, to)
  else await decompressFile(from, to)
}

/** Makes the changed files of an archive outputs, compressed as they were. Resolves to what is said of each. */
async function stageChanged(
  base: string,
  files: readonly ArchiveFile[],
  work: string,
  transaction: Transaction,
  { variables }: Settings,
): Promise<string[]> {
  const dir = dirname(work)
  const packing = join(dir, 'packing')
  mkdirSync(packing)
  const lines: string[] = []
  for (const { name, part, suffix, stats } of files) {
    const target = join(dirname(dir), name)
    let made = `${work}.${part}`
    // Compressed files are made again with the rest, as PCP's does.
    if (suffix === '' && (await haveSameContent(made, target))) continue
    if (suffix !== '') {
      const compressor = compressorOfSuffix(suffix, variables)
      if (compressor === undefined)
        throw new PcpError('ENOENT', `no program makes files that end in ${suffix}`)
      const plain = join(packing, basename(made))
      renameSync(made, plain)
      await compressor.compress(packing, basename(plain))
      const packed = [plain + suffix, `${plain}.bz2`].find(existsSync)
      if (packed === undefined) throw new PcpError('EIO', `${name} was not made again`)
      made = packed
    }
    await makeLike(made, stats)
    transaction.remove(target)
    transaction.stageAs(made, target)
    lines.push(`${suffix === '' ? 'changed' : 'changed and recompressed'}: ${join(dirname(base), name)}`)
  }
  return lines
}
