/**
 * pmlogrewrite: rewrites archives by rules. pmlogrewrite(1)
 *
 * Unlike the reference, it keeps the entries of the temporal index, adds new labels to existing ones, accepts several clauses in a rule
 * for labels or texts, keeps metrics with the original of a duplicated domain, and gives the output its name only once it is complete.
 */
import { dirname, resolve } from 'node:path'
import type { Archive } from '../../archive/archive.ts'
import { Listings } from '../../archive/file-names.ts'
import { identifyArchive } from '../../archive-store/files.ts'
import { type StagedOutput, stagedOutput } from '../../archive-store/staged-output.ts'
import { recover } from '../../archive-store/transaction.ts'
import { PcpError } from '../../model/errors.ts'
import { archiveAccess } from '../../sys/archive-access.ts'
import { archiveFiles } from '../../sys/archive-files.ts'
import { loadConfig } from '../../sys/config.ts'
import { yieldToEventLoop } from '../../sys/event-loop.ts'
import type { FileIdentity } from '../../sys/staging.ts'
import { archiveExists } from '../lib/archive-output.ts'
import { handleEarlyExit, usageText } from '../lib/options.ts'
import { Progress } from '../lib/progress.ts'
import type { Tool, ToolIo } from '../lib/tool.ts'
import { OPTIONS, parseRewrite, type RewriteOptions, rewriteOptions } from './options.ts'
import { configFiles, openInput, readPlan } from './prepare.ts'
import { Rewriting } from './rewrite.ts'
import { changesAnything, summary } from './summary.ts'

/** Bytes to collect before a write; no reader uses the output before it has its name. */
const COLLECT = 1 << 18

export const tool: Tool = {
  name: 'pmlogrewrite',
  summary: 'Change the metadata and values of an archive by rules',
  description:
    'Creates an archive in which rules have changed the host, times, metrics, instances, help texts or labels of the input. ' +
    'Rules that do not match anything in the input have no effect; -w reports them. Without rules the output is a copy.\n\n' +
    'A rule selects an object, and describes the changes in braces:\n\n' +
    'global { hostname -> web1  time -> -1:00:00  timezone -> "UTC" }\n\n' +
    'indom 60.1 { iname "sda" -> "disk0"  inst 3 -> delete  indom -> 60.77 }\n\n' +
    'metric disk.all.read { name -> disk.reads  type -> u64  units -> 0,0,1,0,0,ONE }\n\n' +
    'text metric 60.0.* help { delete }\n\n' +
    'label context "userid" { delete }\n\n' +
    'An asterisk for the last parts of an identifier matches all values. Keywords may be written in capitals; # begins a comment.',
  examples: [
    ['pmlogrewrite -c rename.conf 20260101 fixed', 'Create a new archive with the changes of rename.conf:'],
    ['pmlogrewrite -iq -c fixes.d 20260101', 'Rewrite in place, if the rules in fixes.d change anything:'],
    ['pmlogrewrite -C -c rename.conf 20260101', 'Show what would change:'],
    ['pmlogrewrite -V 3 old new', 'Convert to the newer archive version:'],
  ],
  seeAlso: ['pmlogextract', 'pmloglabel', 'pmlogdump'],
  options: OPTIONS,
  shutsDownOnSignal: true,
  async run(io) {
    const parsed = parseRewrite(io)
    // Here --version is the version of the archive.
    const others = parsed.given.filter(({ name }) => name !== 'V')
    const status = handleEarlyExit(OPTIONS, { ...parsed, given: others }, io)
    if (status !== undefined) return status
    let options: RewriteOptions
    let configs: string[]
    try {
      options = rewriteOptions(parsed)
      configs = configFiles(options.configs, io)
    } catch (error) {
      const { message } = PcpError.from(error)
      if (message !== '') io.stderr.write(`${io.progname}: ${message}\n`)
      io.stderr.write(usageText(OPTIONS, io.progname))
      return 1
    }
    try {
      const replaced = options.isInPlace ? await markInput(options, io) : []
      const archive = openInput(options, io)
      if (archive === undefined) return 0
      try {
        return await rewrite(archive, configs, options, replaced, io)
      } finally {
        archive.close()
      }
    } catch (error) {
      if (!(error instanceof PcpError) || io.signal.aborted) throw error
      io.stderr.write(`${io.progname}: ${error.message}\n`)
      return 1
    }
  },
}

async function rewrite(
  archive: Archive,
  configs: readonly string[],
  options: RewriteOptions,
  inputs: readonly FileIdentity[],
  io: ToolIo,
): Promise<number> {
  const plan = readPlan(archive, configs, options, io)
  if (plan === undefined) return 1
  if (options.isVerbose) io.stdout.write(summary(plan))
  if (options.isCheck || (options.isQuick && !changesAnything(plan))) return 0
  if (!options.isInPlace) await recover(dirname(resolve(io.cwd, options.output!)))
  const path = outputPath(archive, options, io)
  const access = archiveAccess(dirname(path), loadConfig(io.env).variables)
  const output = stagedOutput(path, { ...access, bufferBytes: COLLECT, inputs, signal: io.signal })
  const rewriting = new Rewriting(plan, output)
  try {
    return await write(rewriting, output, options, io)
  } catch (error) {
    if (error instanceof PcpError && !io.signal.aborted)
      io.stderr.write(
        `${io.progname}: ${error.message}\nArchive "${options.output ?? options.input}" not created.\n`,
      )
    else throw error
    return 1
  } finally {
    rewriting.close()
    output.abandon()
  }
}

/** Returns the state of the files to be replaced. */
async function markInput({ input }: RewriteOptions, io: ToolIo): Promise<FileIdentity[]> {
  const bases = new Listings(archiveFiles()).bases(resolve(io.cwd, input))
  return bases.length === 1 ? await identifyArchive(bases[0]!) : []
}

/** Returns the output's path. Throws EEXIST if files are in the way. */
function outputPath(archive: Archive, { isInPlace, output, input }: RewriteOptions, io: ToolIo): string {
  if (isInPlace) {
    if (archive.members.length === 1) return archive.members[0]!.base
    throw new PcpError(
      'PM_ERR_ARG',
      `Error: "${input}" is more than one archive: use -i with each of them separately`,
    )
  }
  const path = resolve(io.cwd, output!)
  if (archiveExists(path, output!, io))
    throw new PcpError('EEXIST', `Error: __pmLogCreate(${output},v${archive.label.version}): File exists`)
  return path
}

/** Writes all files, then gives the output its name. */
async function write(
  rewriting: Rewriting,
  output: StagedOutput,
  options: RewriteOptions,
  io: ToolIo,
): Promise<number> {
  const progress = new Progress(io, rewriting.bytes)
  try {
    rewriting.metadata()
    for (const _ of rewriting.volumes()) {
      progress.update(rewriting.bytesRead)
      await yieldToEventLoop()
      io.signal.throwIfAborted()
    }
  } finally {
    progress.clear()
  }
  const { damage } = rewriting
  const name = options.output ?? options.input
  if (damage !== undefined) {
    io.stderr.write(`${io.progname}: Error: __pmLogRead[log ${options.input}]: ${damage.error.text}\n`)
    const where = `byte offset ${damage.offset} into a file of ${damage.size} bytes`
    io.stderr.write(`${io.progname}: Error occurred at ${where}.\n`)
    if (!options.isDesperate || options.isInPlace) {
      if (!options.isInPlace) io.stderr.write(`Archive "${name}" not created.\n`)
      return 1
    }
    io.stderr.write('The last record, and the remainder of this file will not be processed.\n')
    io.stderr.write(`Archive "${name}" creation truncated.\n`)
  }
  rewriting.finish()
  await output.commit()
  return damage === undefined ? 0 : 1
}
