/**
 * pmjson: checks and formats JSON. pmjson(1)
 *
 * Commas may be missing or too many, as in 6.0.3. Unlike 6.0.3, it rejects unknown words and text after the value, and on a terminal
 * shows the position of an error.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { decodeText } from '../../base/text.ts'
import { PcpError } from '../../model/errors.ts'
import {
  HELP_ROW,
  handleEarlyExit,
  type OptionTable,
  parseOptions,
  usageText,
  VERSION_ROW,
} from '../lib/options.ts'
import type { Tool, ToolIo } from '../lib/tool.ts'
import { type Json, JsonError, parseJson } from './parse.ts'
import { minimal, pretty, yamlLike } from './styles.ts'

const OPTIONS: OptionTable = {
  synopsis: '[options]',
  operands: 'none',
  rows: [
    { heading: 'Reporting options' },
    { short: 'i', long: 'in', arg: 'FILE', help: 'read FILE instead of standard input' },
    { short: 'o', long: 'out', arg: 'FILE', help: 'write to FILE instead of standard output' },
    { short: 'm', long: 'minimal', help: 'omit all blanks' },
    { short: 'p', long: 'pretty', help: 'print one member or item per line (default)' },
    { short: 'q', long: 'quiet', help: 'only check, print nothing' },
    { short: 'y', long: 'yaml', help: 'write without quotes, brackets and commas' },
    VERSION_ROW,
    HELP_ROW,
  ],
}

const STYLES: Readonly<Record<string, (value: Json) => string>> = { m: minimal, p: pretty, y: yamlLike }

/** Reads one JSON value and writes it in another format. Exits with status 1 if it is invalid, 2 if a file cannot be opened. */
export const tool: Tool = {
  name: 'pmjson',
  summary: 'Check and format JSON',
  description: `
Reads one JSON value and prints it with a line for each member and item, or without blanks. Digits of numbers and escapes of strings
stay unchanged. Missing commas are added, and extra ones removed.`,
  examples: [
    ['curl -s localhost:44322/series/ping | pmjson', 'Make a reply readable:'],
    ['pmjson -q -i values.json', 'Check a file; the exit status is 0 if it is valid JSON:'],
  ],
  exitStatus: [[2, 'a file cannot be opened']],
  options: OPTIONS,
  async run(io) {
    const parsed = parseOptions(OPTIONS, io)
    const status = handleEarlyExit(OPTIONS, parsed, io)
    if (status !== undefined) return status
    if (parsed.operands.length > 0) {
      io.stderr.write(usageText(OPTIONS, io.progname))
      return 1
    }
    const { given } = parsed
    const last = (letters: string): { name: string; value: string } | undefined =>
      given.findLast(({ name }) => letters.includes(name))
    const isQuiet = last('q') !== undefined
    try {
      const value = parseJson(await input(last('i')?.value, io))
      if (!isQuiet) output(`${STYLES[last('mpy')?.name ?? 'p']!(value)}\n`, last('o')?.value, io)
      return 0
    } catch (error) {
      if (error instanceof JsonError) {
        const { isEnd, line, column, message } = error
        const { text } = new PcpError(isEnd ? 'ENODATA' : 'EINVAL')
        if (!isQuiet) io.stderr.write(`${io.progname} failed: ${text}\n`)
        // Scripts expect PCP's message.
        if (io.stderr.isTerminal) io.stderr.write(`line ${line}, column ${column}: ${message}\n`)
        return 1
      }
      io.stderr.write(`${PcpError.from(error).message}\n`)
      return 2
    }
  },
}

async function input(file: string | undefined, io: ToolIo): Promise<string> {
  if (file !== undefined) {
    try {
      return decodeText(readFileSync(resolve(io.cwd, file)))
    } catch (error) {
      throw named(error, file)
    }
  }
  const chunks: Uint8Array[] = []
  for await (const chunk of io.stdin) chunks.push(chunk)
  return decodeText(Buffer.concat(chunks))
}

function output(text: string, file: string | undefined, io: ToolIo): void {
  if (file === undefined) {
    io.stdout.write(text)
    return
  }
  try {
    writeFileSync(resolve(io.cwd, file), text)
  } catch (error) {
    throw named(error, file)
  }
}

function named(error: unknown, file: string): PcpError {
  const { code, text } = PcpError.from(error)
  return new PcpError(code, `${file}: ${text}`, { cause: error })
}
