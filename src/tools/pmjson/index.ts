/**
 * pmjson: checks JSON and lays it out. pmjson(1)
 *
 * Unlike 6.0.3's it takes nothing for JSON that is none (words that nobody knows, a comma too many, text behind the value), and
 * says on a terminal where a mistake is.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { decodeText } from '../../base/text.ts'
import { PcpError } from '../../model/errors.ts'
import { endEarly, HELP_ROW, type OptionTable, parseOptions, usageText, VERSION_ROW } from '../lib/options.ts'
import type { Tool, ToolIo } from '../lib/tool.ts'
import { type Json, JsonError, parseJson } from './parse.ts'
import { minimal, pretty, yamlLike } from './styles.ts'

const OPTIONS: OptionTable = {
  synopsis: '[options]',
  operands: 'none',
  rows: [
    { heading: 'Reporting options' },
    { short: 'i', long: 'in', arg: 'FILE', help: 'read FILE in place of standard input' },
    { short: 'o', long: 'out', arg: 'FILE', help: 'write to FILE in place of standard output' },
    { short: 'm', long: 'minimal', help: 'leave out all blanks' },
    { short: 'p', long: 'pretty', help: 'a line for each member and item (default)' },
    { short: 'q', long: 'quiet', help: 'check only, and write nothing' },
    { short: 'y', long: 'yaml', help: 'write without quotes, brackets and commas' },
    VERSION_ROW,
    HELP_ROW,
  ],
}

const STYLES: Readonly<Record<string, (value: Json) => string>> = { m: minimal, p: pretty, y: yamlLike }

/** Reads one JSON value and writes it in another layout. Status 1 when it is none, 2 when a file cannot be opened. */
export const tool: Tool = {
  name: 'pmjson',
  summary: 'Check JSON and lay it out',
  description: `
Reads one value in JSON and writes it again, with a line for each member and item, or without any blank. Numbers keep their digits
and strings their escapes.`,
  examples: [
    ['curl -s localhost:44322/series/ping | pmjson', 'An answer that people can read:'],
    ['pmjson -q -i values.json', 'Is this JSON? The exit status tells:'],
  ],
  exitStatus: [[2, 'a file cannot be opened']],
  options: OPTIONS,
  async run(io) {
    const parsed = parseOptions(OPTIONS, io)
    const status = endEarly(OPTIONS, parsed, io)
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
        // Scripts know PCP's message.
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
