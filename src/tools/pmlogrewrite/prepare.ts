/** Prepares a rewriting: the archive, the rule files, and the plan. pmlogrewrite(1) */

import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { Archive } from '../../archive/archive.ts'
import { decodeText } from '../../base/text.ts'
import { PcpError } from '../../model/errors.ts'
import { archiveFiles } from '../../sys/archive-files.ts'
import { openProblem } from '../lib/open-error.ts'
import type { ToolIo } from '../lib/tool.ts'
import { InputContents } from './known.ts'
import type { RewriteOptions } from './options.ts'
import { parseRules } from './parse.ts'
import { makePlan, type Plan } from './plan.ts'
import { noRules } from './rules.ts'

/** Returns the paths of all rule files. Throws PM_ERR_ARG with the message to print before the usage text. */
export function configFiles(paths: readonly string[], io: ToolIo): string[] {
  return paths.flatMap((path) => {
    const absolute = resolve(io.cwd, path)
    const stats = attempt(`stat(${path})`, () => statSync(absolute))
    if (stats.isFile()) return [path]
    if (!stats.isDirectory())
      throw new PcpError('PM_ERR_ARG', `Error: -c config ${path} is not a file or directory`)
    const names = attempt(`opendir(${path})`, () => readdirSync(absolute)).filter(
      (name) => !name.startsWith('.'),
    )
    return names
      .sort()
      .filter((name) => statSync(join(absolute, name), { throwIfNoEntry: false })?.isFile())
      .map((name) => `${path}/${name}`)
  })
}

function attempt<T>(what: string, action: () => T): T {
  try {
    return action()
  } catch (error) {
    throw new PcpError('PM_ERR_ARG', `${what} failed: ${PcpError.from(error).text}`, { cause: error })
  }
}

/** Opens the input; prints a warning for an empty one and returns undefined. Throws PcpError with the message to print. */
export function openInput({ input, version }: RewriteOptions, io: ToolIo): Archive | undefined {
  const names = input.split(',').map((part) => resolve(io.cwd, part))
  let archive: Archive
  try {
    archive = Archive.open(names, archiveFiles(), {
      anyFeatures: true,
      onWarning: ({ message }) => io.stderr.write(`${io.progname}: Warning: ${message}\n`),
    })
  } catch (error) {
    const { code } = PcpError.from(error)
    if (code !== 'PM_ERR_NODATA')
      throw new PcpError(code, `Error: cannot open archive "${input}": ${openProblem(error)}`, {
        cause: error,
      })
    io.stderr.write(`${io.progname}: Warning: empty archive "${input}" will be skipped\n`)
    return undefined
  }
  if ((archive.label.features & 0x7fff_ffff) !== 0) {
    const problem = 'unsupported feature bits, other errors may follow ...'
    io.stderr.write(`${io.progname}: Warning: archive "${input}": ${problem}\n`)
  }
  if (version === 2 && archive.members.some(({ label }) => label.version === 3)) {
    archive.close()
    throw new PcpError('PM_ERR_LABEL', `Error: cannot create a v2 archive from v3 (${input})`)
  }
  return archive
}

/** Reads the rules; prints errors in them and returns undefined. Throws PcpError for unreadable files. */
export function readPlan(
  archive: Archive,
  configs: readonly string[],
  options: RewriteOptions,
  io: ToolIo,
): Plan | undefined {
  const highest = archive.members.some(({ label }) => label.version === 3) ? 3 : 2
  const known = new InputContents(archive, options.version ?? highest)
  const rules = noRules()
  let path = ''
  let lines = 0
  const warn = (line: number, text: string): void => {
    if (options.warns) io.stderr.write(`Warning [${path}, line ${line}]\n${text}\n`)
  }
  try {
    for (path of configs) {
      const text = readConfig(path, io)
      lines = text.split('\n').length
      parseRules(text, known, rules, warn)
    }
    return makePlan(known, rules, options.rescales, (text) => warn(lines, text))
  } catch (error) {
    const { code, message } = PcpError.from(error)
    if (code !== 'PM_ERR_ARG' && code !== 'PM_ERR_GENERIC') throw error
    const kind = code === 'PM_ERR_ARG' ? 'Specification' : 'Semantic'
    io.stderr.write(`${kind} error in configuration file (${path})\n${message}\n`)
    return undefined
  }
}

function readConfig(path: string, io: ToolIo): string {
  try {
    return decodeText(readFileSync(resolve(io.cwd, path)))
  } catch (error) {
    const { code, text } = PcpError.from(error)
    const status = code === 'PM_ERR_GENERIC' ? 'EIO' : code
    throw new PcpError(status, `Cannot open config file "${path}": ${text}`, { cause: error })
  }
}
