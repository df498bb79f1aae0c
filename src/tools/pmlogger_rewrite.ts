/**
 * pmlogger_rewrite: rewrites many archives in place with pmlogrewrite, including compressed ones. pmlogger_rewrite(1)
 *
 * An archive is rewritten in a staging directory, then its changed files replace the old ones in one transaction. Until then readers see
 * the old files; a failure leaves them unchanged.
 */
import { existsSync, mkdirSync, renameSync, statSync } from 'node:fs'
import { copyFile } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { parseFileName } from '../archive/file-names.ts'
import { copyAttributes, haveSameContent } from '../archive-store/copy.ts'
import { type ArchiveFile, archiveFilesIn, filesOfArchive, identifyArchive } from '../archive-store/files.ts'
import { Transaction } from '../archive-store/transaction.ts'
import { PcpError } from '../model/errors.ts'
import { loadConfig, type Variables } from '../sys/config.ts'
import { decompressFile } from '../sys/decompress.ts'
import { asParent } from '../sys/parent-process.ts'
import { compressorOfSuffix } from './lib/admin/compress.ts'
import { findProgram, type RunOptions, runProgram } from './lib/admin/programs.ts'
import { realPath, runningLoggers } from './lib/admin/running.ts'
import { HELP_ROW, handleEarlyExit, type OptionTable, parseOptions } from './lib/options.ts'
import type { Tool, ToolIo } from './lib/tool.ts'

const OPTIONS: OptionTable = {
  synopsis: '[options] archive ...',
  operands: 'archive',
  rows: [
    { heading: 'Options' },
    { short: 'c', long: 'config', arg: 'PATH', help: 'read rules from a file or all files of a directory' },
    { short: 'd', long: 'desperate', help: 'keep the output after an error' },
    { short: 'N', long: 'showme', help: 'dry run: show what would be done' },
    { short: 's', long: 'scale', help: 'rescale values if only the scale of the units changes' },
    { short: 'V', long: 'verbose', help: 'print progress; twice for more detail' },
    { short: 'v', help: 'run pmlogrewrite with -v' },
    {
      short: 'w',
      long: 'warnings',
      help: 'run pmlogrewrite with -w, for warnings about rules without effect',
    },
    HELP_ROW,
  ],
}

interface Settings {
  /** Arguments for pmlogrewrite. */
  readonly args: readonly string[]
  readonly shown: string
  readonly showsOnly: boolean
  readonly verbosity: number
  readonly variables: Variables
}

/** Rewrites the archives of names, files and directories. Exits with status 1 if any could not be rewritten. */
export const tool: Tool = {
  name: 'pmlogger_rewrite',
  summary: 'Change archives in place with pmlogrewrite',
  description: `
Operands are archives, files of archives, or directories with archives. Archives being written are skipped. Compressed files are
compressed again, and keep their modification time, so that they are removed at the same age.`,
  examples: [
    ['pmlogger_rewrite -c fix.conf /var/log/pcp/pmlogger/db1', 'Apply rules to all archives of a host:'],
  ],
  seeAlso: ['pmlogrewrite', 'pmlogger_daily'],
  options: OPTIONS,
  shutsDownOnSignal: true,
  async run(io) {
    const parsed = parseOptions(OPTIONS, io)
    const wantsHelp = parsed.given.some(({ name }) => name === '?')
    if (parsed.operands.length === 0 && !wantsHelp) parsed.problems.push('an archive is required')
    const status = handleEarlyExit(OPTIONS, parsed, io)
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

/** Returns base names without duplicates, in the order of the operands. */
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

/** Rewrites one archive; prints errors and returns false. */
async function rewriteOne(base: string, settings: Settings, io: ToolIo): Promise<boolean> {
  if (settings.showsOnly) {
    io.stdout.write(`+ check ${base} not active and OK\n+ ${settings.shown} ${base}\n`)
    return true
  }
  const path = resolve(io.cwd, base)
  try {
    if (!(await isUsable(base, settings, io))) return false
    const marks = await identifyArchive(path)
    const files = filesOfArchive(path)
    const transaction = new Transaction(dirname(path), { signal: io.signal })
    try {
      for (const mark of marks) transaction.expect(mark)
      const work = join(transaction.staging(), basename(path))
      for (const { name, part } of files) await unpack(join(dirname(path), name), `${work}.${part}`)
      const before = files.map(({ part }) => statSync(`${work}.${part}`).ino)
      const args = [...settings.args, work]
      if ((await runProgram(program('pmlogrewrite', settings), args, outputOf(settings, io))) !== 0) {
        io.stdout.write(`Error: pmlogrewrite failed for ${base}, which is unchanged\n`)
        return false
      }
      // With -q it replaces no file if nothing changes.
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
  if (path === undefined) throw new PcpError('ENOENT', `Command ${name} not found`)
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

/** Returns whether the label is readable and no pmlogger writes the archive. */
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
  // -L checks the complete label, -l also the time of the last record.
  for (const option of ['-L', '-l']) await runProgram(program('pmdumplog', settings), [option, base], options)
  if (/PID for pmlogger: \d+/.test(label)) return true
  io.stdout.write(`Botch: cannot get pmlogger PID from label record for ${base}\n`)
  return false
}

/** Copies a file, decompressing it if necessary. */
async function unpack(from: string, to: string): Promise<void> {
  if (parseFileName(from)?.suffix === '') await copyFile(from, to)
  else await decompressFile(from, to)
}

/** Stages the changed files of an archive, compressed like the originals. Resolves to a message about each. */
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
    // Compressed files are always replaced, as by PCP's script.
    if (suffix === '' && (await haveSameContent(made, target))) continue
    if (suffix !== '') {
      const compressor = compressorOfSuffix(suffix, variables)
      if (compressor === undefined)
        throw new PcpError('ENOENT', `no program makes files that end in ${suffix}`)
      const plain = join(packing, basename(made))
      renameSync(made, plain)
      await compressor.compress(packing, basename(plain))
      const packed = [plain + suffix, `${plain}.bz2`].find(existsSync)
      if (packed === undefined) throw new PcpError('EIO', `${name} was not recompressed`)
      made = packed
    }
    await copyAttributes(made, stats)
    transaction.remove(target)
    transaction.stageAs(made, target)
    lines.push(`${suffix === '' ? 'changed' : 'changed and recompressed'}: ${join(dirname(base), name)}`)
  }
  return lines
}
