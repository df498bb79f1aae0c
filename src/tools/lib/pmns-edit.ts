/** Helpers of the commands that change name space files. pmnsadd(1), pmnsdel(1), pmnsmerge(1) */
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

/** Returns the variables of pcp.conf and the environment. */
export function variablesOf(io: Pick<ToolIo, 'env'>): Variables {
  return loadConfig(io.env, { uid: process.getuid?.() ?? 0 }).variables
}

/** Loads a name space; if that fails, prints the messages of PCP's tools and returns undefined. */
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
    // PCP's messages about duplicates end with an additional newline.
    const gap = reason === 'duplicate-pmid' ? '\n' : ''
    reportParse(path, `${message.trimEnd()}\n${gap}`, text, io, options.unique === true)
    return undefined
  }
}

/** Prints the parser's report in whole lines, and a line of the command's own. */
export function reportParse(path: string, report: string, why: string, io: ToolIo, isUnique: boolean): void {
  io.stderr.write(report)
  io.stderr.write(`${io.progname}: Error: pmLoadASCIINameSpace(${path}, ${isUnique ? 0 : 1}): ${why}\n`)
}

/** Prints a warning about a name with different PMIDs in two name spaces. */
export function warnMergeConflict({ name, kept, ignored, isLeafRemoved }: MergeConflict, io: ToolIo): void {
  const [problem, outcome] = isLeafRemoved
    ? [`performance metric "${name}" gives way to the names below it.`, 'dropping']
    : [`performance metric "${name}" has multiple PMIDs.`, `using PMID ${digits(kept)} and ignoring`]
  io.stderr.write(`${io.progname}: Warning: ${problem}\n... ${outcome} PMID ${digits(ignored)}\n`)
}

/** Formats a PMID, including the null identifier of an inner node, in digits as PCP does. */
function digits(id: Pmid): string {
  return id === PM_ID_NULL ? `${domainOf(id)}.${clusterOf(id)}.${itemOf(id)}` : pmidStr(id)
}

/** PCP's scripts wait as long for the lock of a name space. */
const LOCK_LIMIT_MS = 120_000

/**
 * Runs an edit under a lock against other commands of this package. The lock is `FILE.edit` instead of the `FILE.lock` of PCP's
 * scripts, which hold theirs while they run editing commands.
 */
export async function whileEditing(path: string, io: ToolIo, edit: () => number): Promise<number> {
  const lockPath = `${resolve(io.cwd, path)}.edit`
  let lock: FileLock | undefined
  try {
    lock = await takeLock(lockPath, { limitMs: LOCK_LIMIT_MS, signal: io.signal })
  } catch {
    return edit() // The directory is not writable, so the edit fails and reports it.
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
