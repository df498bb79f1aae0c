/** Rule files, archives and time window named on pmie's command line. */
import { existsSync, readFileSync } from 'node:fs'
import { isAbsolute, join, resolve } from 'node:path'
import { decodeText } from '../../base/text.ts'
import { PcpError } from '../../model/errors.ts'
import type { Context } from '../../pmapi/context.ts'
import type { RuleFile } from '../../rules/program.ts'
import { loadConfig } from '../../sys/config.ts'
import { earlierOf, FOREVER, laterOf } from '../../time/arithmetic.ts'
import { boundsOf, openReport } from '../lib/source.ts'
import type { StandardOptions } from '../lib/standard.ts'
import type { ToolIo } from '../lib/tool.ts'
import type { ArchiveBounds } from '../lib/window.ts'

/** Reads the rule files, or standard input if none is named. Throws PcpError with PCP's message. */
export async function readRuleFiles(names: readonly string[], io: ToolIo): Promise<RuleFile[]> {
  if (names.length > 0) return names.map((name) => readRuleFile(name, io))
  const chunks: Uint8Array[] = []
  for await (const chunk of io.stdin) chunks.push(chunk)
  return [{ name: undefined, text: decodeText(Buffer.concat(chunks)) }]
}

/** Reads a rule file by path, or by name from the installed rules. */
export function readRuleFile(name: string, io: ToolIo): RuleFile {
  const path = resolve(io.cwd, name)
  const installed = join(loadConfig(io.env).variables['PCP_VAR_DIR'] ?? '', 'config/pmie', name)
  const isOther = !isAbsolute(name) && !existsSync(path)
  try {
    return { name, text: decodeText(readFileSync(isOther ? installed : path)) }
  } catch (error) {
    const { code, text } = PcpError.from(error)
    const where = isOther ? `as either ${name} or ${installed}` : name
    throw new PcpError(code, `cannot access config file ${where}: ${text}`, { cause: error })
  }
}

/** Opens archives: each on its own, except that archives of a host in a list are opened together. */
export async function openArchives(
  standard: StandardOptions,
  io: ToolIo,
): Promise<{ name: string; context: Context }[]> {
  const opened: { name: string; context: Context }[] = []
  const open = async (name: string): Promise<void> => {
    const context = await openReport({ ...standard, archives: [name] }, io)
    opened.push({ name, context })
  }
  for (const name of standard.archives) {
    try {
      await open(name)
    } catch (error) {
      if (!name.includes(',') || PcpError.from(error).code !== 'PM_ERR_LOGHOST') throw error
      for (const each of name.split(',')) await open(each)
    }
  }
  return opened
}

/** Returns the time range of all archives together. */
export function boundsOfAll(
  opened: readonly { name: string; context: Context }[],
  standard: StandardOptions,
  io: ToolIo,
): ArchiveBounds {
  const all = opened.map(({ name, context }) => boundsOf(context, { ...standard, archives: [name] }, io)!)
  return all.reduce((a, b) => ({ start: earlierOf(a.start, b.start), end: latest(a.end, b.end) }))
}

function latest(a: ArchiveBounds['end'], b: ArchiveBounds['end']): ArchiveBounds['end'] {
  return a === FOREVER || b === FOREVER ? FOREVER : laterOf(a, b)
}
