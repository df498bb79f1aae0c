/** What the commands that change name space files share. pmnsadd(1), pmnsdel(1), pmnsmerge(1) */
import { resolve } from 'node:path'
import { PcpError } from '../../model/errors.ts'
import { clusterOf, domainOf, itemOf, PM_ID_NULL, type Pmid, pmidStr } from '../../model/ids.ts'
import { type LoadOptions, loadPmns, type PmnsFiles } from '../../pmns/load.ts'
import type { MergeConflict } from '../../pmns/merge.ts'
import type { Pmns } from '../../pmns/tree.ts'
import { loadConfig, type Variables } from '../../sys/config.ts'
import { type FileLock, holderOf, takeLock } from '../../sys/file-lock.ts'
import { pmnsFiles } from '../../sys/pmns-files.ts'
import type { ToolIo } from './tool.ts'

/** Variables of pcp.conf and the environment. */
export function variablesOf(io: Pick<ToolIo, 'env'>): Variables {
  return loadConfig(io.env, { uid: process.getuid?.() ?? 0 }).variables
}

/** Loads a name space; when that fails, prints what PCP's tools print and returns undefined. */
export function loadOrReport(
  path: string,
  io: ToolIo,
  options: LoadOptions & { readonly files?: PmnsFiles } = {},
): Pmns | undefined {
  const files = options.files ?? pmnsFiles(variablesOf(io), { cwd: io.cwd })
  try {
    return loadPmns(path, files, options)
  } catch (error) {
    const { text, message, reason } = PcpError.from(error)
    // PCP's messages about duplicates bring a newline of their own.
    const gap = reason === 'duplicate-pmid' ? '\n' : ''
    reportParse(path, `${message.trimEnd()}\n${gap}`, text, io, options.unique === true)
    return undefined
  }
}

/** Prints why a name space cannot be used: the parser's report, in whole lines, and a line of the command's. */
export function reportParse(path: string, report: string, why: string, io: ToolIo, isUnique: boolean): void {
  io.stderr.write(report)
  io.stderr.write(`${io.progname}: Error: pmLoadASCIINameSpace(${path}, ${isUnique ? 0 : 1}): ${why}\n`)
}

/** Prints a warning about a name that two name spaces disagree about. */
export function warnOf({ name, kept, ignored, isDisplaced }: MergeConflict, io: ToolIo): void {
  const [problem, outcome] = isDisplaced
    ? [`performance metric "${name}" gives way to the names below it.`, 'dropping']
    : [`performance metric "${name}" has multiple PMIDs.`, `using PMID ${digits(kept)} and ignoring`]
  io.stderr.write(`${io.progname}: Warning: ${problem}\n... ${outcome} PMID ${digits(ignored)}\n`)
}

/** PCP prints the null identifier, which here stands for a non-leaf, in digits too. */
function digits(id: Pmid): string {
  return id === PM_ID_NULL ? `${domainOf(id)}.${clusterOf(id)}.${itemOf(id)}` : pmidStr(id)
}

/** As long as PCP's scripts wait for the lock of a name space. */
const LOCK_LIMIT_MS = 120_000

/**
 * Runs an edit while no other edit of ours changes the same file. The lock is `FILE.edit`, not the `FILE.lock` of PCP's
 * scripts, because these hold that one while they run the commands that edit.
 */
export async function whileEditing(path: string, io: ToolIo, edit: () => number): Promise<number> {
  const lockPath = `${resolve(io.cwd, path)}.edit`
  let lock: FileLock | undefined
  try {
    lock = await takeLock(lockPath, { limitMs: LOCK_LIMIT_MS, signal: io.signal })
  } catch {
    return edit() // No lock can be made there, so the file cannot be replaced either: editing says why.
  }
  if (lock === undefined) {
    const holder = holderOf(lockPath) ?? 'another process'
    io.stderr.write(
      `${io.progname}: Error: "${path}" is being changed by ${holder}: if that is wrong, remove ${lockPath}\n`,
    )
    return 1
  }
  try {
    return edit()
  } finally {
    lock.release()
  }
}
