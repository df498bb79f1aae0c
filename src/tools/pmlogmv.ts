/**
 * pmlogmv, pmlogcp and pmlogls: move, copy and list the files of an archive together. pmlogmv(1)
 *
 * The destination appears and the source disappears in one transaction; after a failure nothing has changed.
 * pmlogcp and pmlogls are commands of PCP 7.2.
 */
import { constants, copyFile, existsSync, linkSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { Listings } from '../archive/file-names.ts'
import { haveSameContent } from '../archive-store/copy.ts'
import { recover, Transaction } from '../archive-store/transaction.ts'
import { PcpError } from '../model/errors.ts'
import { archiveFiles } from '../sys/archive-files.ts'
import { yieldToEventLoop } from '../sys/event-loop.ts'
import { baseOf, partsOf } from './lib/archive-input.ts'
import { HELP_ROW, handleEarlyExit, type OptionTable, parseOptions } from './lib/options.ts'
import type { Tool, ToolIo } from './lib/tool.ts'

const OPTIONS: OptionTable = {
  synopsis: '[options] oldname newname',
  rows: [
    { heading: 'Options' },
    { short: 'c', long: 'checksum', help: 'compare copies with the originals' },
    { short: 'f', long: 'force', help: 'accept names with shell metacharacters' },
    { short: 'N', long: 'showme', help: 'dry run: show what would be done' },
    { short: 'V', long: 'verbose', help: 'print progress' },
    HELP_ROW,
  ],
}

/** Options of pmlogls. */
const LIST_OPTIONS: OptionTable = {
  synopsis: '[options] archive|directory',
  rows: OPTIONS.rows.filter((row) => 'heading' in row || row.short === 'V' || row === HELP_ROW),
}

/** Characters with a special meaning in shells. */
const UNSAFE = /[ \t\n!"#$&'()*;<>?[\\\]`{|}~]/

/** A file and its destination. */
interface Step {
  readonly from: string
  readonly to: string
}

/** Moves, copies or lists, depending on the program name. Exits with status 1 if nothing was done. */
export const tool: Tool = {
  name: 'pmlogmv',
  summary: 'Rename, copy or list the files of an archive',
  options: OPTIONS,
  shutsDownOnSignal: true,
  async run(io) {
    const lists = io.progname === 'pmlogls'
    const options = lists ? LIST_OPTIONS : OPTIONS
    const parsed = parseOptions(options, io)
    const has = (letter: string): boolean => parsed.given.some(({ name }) => name === letter)
    const [source, target] = parsed.operands
    if (
      parsed.problems.length === 0 &&
      !has('?') &&
      (source === undefined || (!lists && target === undefined))
    )
      parsed.problems.push('insufficient arguments')
    const status = handleEarlyExit(options, parsed, io)
    if (status !== undefined) return status
    const files = archiveFiles()
    const base = baseOf(source!, files)
    const to = lists ? base : files.isDirectory(target!) ? join(target!, basename(base)) : target!
    if (!lists && !has('N')) for (const dir of new Set([dirname(base), dirname(to)])) await recover(dir)
    const bases = lists && files.isDirectory(source!) ? new Listings(files).bases(source!).sort() : [base]
    const parts = bases.flatMap((each) => partsOf(each, files))
    if (parts.length === 0) throw new PcpError('ENOENT', `no files match "${source}"`)
    if (lists) {
      for (const { path } of parts) io.stdout.write(`${path}\n`)
      return 0
    }
    const unsafe = UNSAFE.exec(to)
    if (unsafe !== null && !has('f'))
      throw new PcpError('EINVAL', `dstname (${to}) unsafe [shell metacharacter '${unsafe[0]}']`)
    for (const part of ['index', 'meta'])
      if (!parts.some((file) => file.part === part))
        io.stderr.write(`${io.progname}: Warning: source file ${base}.${part} not found\n`)
    // Shows names as given; base names have lost their leading "./".
    const here = source!.startsWith('./') && !base.startsWith('./') ? './' : ''
    const steps = parts.map(({ path }) => ({ from: here + path, to: to + path.slice(base.length) }))
    const taken = steps.findLast((step) => existsSync(step.to))
    if (taken !== undefined) throw new PcpError('EEXIST', `${taken.to}: already exists`)
    const work = {
      steps,
      copies: io.progname === 'pmlogcp',
      checks: has('c'),
      dry: has('N'),
      verbose: has('V'),
    }
    return transfer(work, io)
  },
}

interface Work {
  readonly steps: readonly Step[]
  readonly copies: boolean
  readonly checks: boolean
  readonly dry: boolean
  readonly verbose: boolean
}

async function transfer(
  { steps, copies, checks, dry, verbose }: Work,
  { stdout, signal }: ToolIo,
): Promise<number> {
  if (dry) {
    for (const { from, to } of steps) stdout.write(`+ ${copies ? 'cp' : 'ln-or-cp'} ${from} ${to}\n`)
    if (!copies) for (const { from } of steps) stdout.write(`+ rm ${from}\n`)
    return 0
  }
  const transaction = new Transaction(dirname(steps[0]!.from), { signal })
  try {
    for (const { from, to } of steps) {
      const verb = await make(transaction, { from, to }, copies, checks)
      if (verbose) stdout.write(`${verb} ${from} -> ${to}\n`)
      await yieldToEventLoop()
      if (signal.aborted) throw new PcpError('EINTR', 'interrupted')
    }
    await transaction.commit()
  } finally {
    transaction.abandon()
  }
  if (verbose && !copies) for (const { from } of steps) stdout.write(`remove ${from}\n`)
  return 0
}

/** Stages one file; returns how. */
async function make(
  transaction: Transaction,
  { from, to }: Step,
  copies: boolean,
  checks: boolean,
): Promise<'copy' | 'link'> {
  if (!copies) transaction.remove(from)
  const staged = stage(transaction, to)
  if (!copies && linked(from, to, staged)) return 'link'
  await copy(from, staged, checks)
  return 'copy'
}

/** Stages a name; errors show the final name. */
function stage(transaction: Transaction, to: string): string {
  try {
    return transaction.stage(to)
  } catch (error) {
    throw PcpError.from(error, to)
  }
}

/** Creates a hard link; returns false if it would cross file systems. */
function linked(from: string, to: string, staged: string): boolean {
  try {
    linkSync(from, staged)
    return true
  } catch (error) {
    const { code, text } = PcpError.from(error)
    // A copy would fail for the same reason, with a less specific error.
    if (code === 'EACCES' || code === 'EROFS' || code === 'ENOENT')
      throw new PcpError(code, `link ${from} -> ${to} failed: ${text}`, { cause: error })
    return false
  }
}

async function copy(from: string, to: string, checks: boolean): Promise<void> {
  await new Promise<void>((resolve, reject) =>
    copyFile(from, to, constants.COPYFILE_EXCL, (error) => (error === null ? resolve() : reject(error))),
  )
  const isSame = statSync(from).size === statSync(to).size && (!checks || (await haveSameContent(from, to)))
  if (!isSame) throw new PcpError('EIO', `${to}: differs from ${from} after copying`)
}
