/**
 * pmlogcompress: compresses files of archives so that a crash at any time leaves either the old or the new file. Not a command of PCP;
 * pmlogger_daily runs it with the privileges of the archives' owner.
 */
import { existsSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { type Compressor, compressFile } from '../archive-store/compress.ts'
import { filesOfArchive } from '../archive-store/files.ts'
import { recover } from '../archive-store/transaction.ts'
import { PcpError } from '../model/errors.ts'
import { loadConfig } from '../sys/config.ts'
import { compressorFor } from './lib/admin/compress.ts'
import { HELP_ROW, handleEarlyExit, type OptionTable, parseOptions } from './lib/options.ts'
import type { Tool, ToolIo } from './lib/tool.ts'

const OPTIONS: OptionTable = {
  synopsis: '[options] archive ...',
  operands: 'archive',
  rows: [
    { heading: 'Options' },
    { short: 'N', long: 'showme', help: 'dry run: show what would be done' },
    { short: 'V', long: 'verbose', help: 'list the files as they are compressed' },
    {
      short: 'X',
      long: 'compressor',
      arg: 'PROGRAM',
      help: 'compress with this program, which takes a file name [xz]',
    },
    HELP_ROW,
  ],
}

/** Compresses the named files and archives. Exits with status 1 if any could not be compressed. */
export const tool: Tool = {
  name: 'pmlogcompress',
  summary: 'Compress files of archives',
  description: `
Operands are files of archives, or archives, of which the metadata and all volumes are compressed. A file keeps its modification time,
so that it is removed at the same age. Archives being written must not be named.`,
  examples: [['pmlogcompress -X zstd 20260101', 'Compress all volumes of an archive:']],
  seeAlso: ['pmlogger_daily', 'pmlogextract'],
  options: OPTIONS,
  shutsDownOnSignal: true,
  async run(io) {
    const parsed = parseOptions(OPTIONS, io)
    const wantsHelp = parsed.given.some(({ name }) => name === '?')
    if (parsed.operands.length === 0 && !wantsHelp) parsed.problems.push('insufficient arguments')
    const status = handleEarlyExit(OPTIONS, parsed, io)
    if (status !== undefined) return status
    const has = (name: string): boolean => parsed.given.some((option) => option.name === name)
    const command = parsed.given.findLast(({ name }) => name === 'X')?.value
    const compressor = compressorFor(command, loadConfig(io.env).variables)
    if (compressor === undefined) throw new PcpError('ENOENT', `${command}: compression program not found`)
    let hasFailed = false
    for (const operand of parsed.operands)
      if (!(await compressOperand(operand, compressor, { showsOnly: has('N'), isVerbose: has('V') }, io)))
        hasFailed = true
    return hasFailed ? 1 : 0
  },
}

/** Returns false after printing why a file could not be compressed. */
async function compressOperand(
  operand: string,
  compressor: Compressor,
  { showsOnly, isVerbose }: { readonly showsOnly: boolean; readonly isVerbose: boolean },
  io: ToolIo,
): Promise<boolean> {
  try {
    if (!showsOnly) await recover(dirname(resolve(io.cwd, operand)))
    for (const path of pathsOf(operand, io)) {
      if (showsOnly) io.stdout.write(`+ ${compressor.command} ${path}\n`)
      else await compressFile(resolve(io.cwd, path), compressor, { signal: io.signal })
      if (isVerbose && !showsOnly) io.stdout.write(`${path}\n`)
    }
    return true
  } catch (error) {
    io.stderr.write(`${io.progname}: ${operand}: ${PcpError.from(error).message}\n`)
    return false
  }
}

/** Returns paths of files, relative if the operand is. */
function pathsOf(operand: string, io: ToolIo): string[] {
  if (existsSync(resolve(io.cwd, operand))) return [operand]
  const files = filesOfArchive(resolve(io.cwd, operand))
  if (files.length === 0) throw new PcpError('ENOENT', 'No such file or archive')
  return files.flatMap(({ name, part, suffix }) =>
    suffix === '' && part !== 'index' ? [join(dirname(operand), name)] : [],
  )
}
