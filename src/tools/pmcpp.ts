/**
 * pmcpp: the preprocessor of name spaces and configuration files. pmcpp(1), docs/formats/pmns.md §4
 *
 * Unlike the reference, it has -V, processes a last line without a newline, accepts a second #else, which toggles again, keeps
 * skipping after an unknown `#...` line in a false block, and reports the line of an unterminated #ifdef.
 */
import { closeSync, openSync, readSync } from 'node:fs'
import { resolve } from 'node:path'
import { decodeText } from '../base/text.ts'
import { PcpError } from '../model/errors.ts'
import { Preprocessor } from '../pmns/cpp.ts'
import { CppTrace } from '../pmns/cpp-trace.ts'
import { loadConfig } from '../sys/config.ts'
import { isReadableFile, pmnsFiles } from '../sys/pmns-files.ts'
import { runShell } from '../sys/run-shell.ts'
import {
  HELP_ROW,
  handleEarlyExit,
  type OptionTable,
  type ParsedOptions,
  parseOptions,
  usageText,
  VERSION_ROW,
} from './lib/options.ts'
import { FdOutput } from './lib/output.ts'
import type { Output, Tool, ToolIo } from './lib/tool.ts'

const OPTIONS: OptionTable = {
  synopsis: '[-Prs] [-D name[=value]]... [-I dir]... [infile [outfile]]',
  rows: [
    HELP_ROW,
    { short: 'd' }, // hidden, as in PCP's usage text
    { short: 'D', long: 'define', arg: 'name[=value]', help: 'define a macro before reading' },
    { short: 'I', long: 'include', arg: 'dir', help: 'also search dir for included files' },
    { short: 'P', help: 'omit line markers' },
    { short: 'r', long: 'restrict', help: 'expand macros only where written #name or #{name}' },
    { short: 's', long: 'shell', help: 'use % instead of # and keep comments' },
    VERSION_ROW,
  ],
}

const BLOCK = 256 * 1024
const NEWLINE = 10

/** Preprocesses a file or standard input. Runs #shell commands, because the user chose the file. */
export const tool: Tool = {
  name: 'pmcpp',
  summary: 'Preprocess name spaces and configuration files',
  description: `
Reads a file, or standard input, and writes it with its directives executed: #include, #define, #undef, #ifdef, #ifndef, #else and
#endif. C comments are removed, and macros are replaced. Every input line gives one output line, and lines that begin with # and a
number name the source file, so that errors can be reported with their original position.

#shell runs commands: process only files whose author you trust.

With -d, standard error shows the names looked up and their replacements.`,
  examples: [['pmcpp -P -D SITE=north names', 'Define a macro, and omit line markers:']],
  seeAlso: ['pmnsmerge'],
  options: OPTIONS,
  async run(io) {
    const parsed = parseOptions(OPTIONS, io)
    const status = handleEarlyExit(OPTIONS, parsed, io)
    if (status !== undefined) return status
    if (parsed.operands.length > 2) {
      io.stderr.write(usageText(OPTIONS, io.progname))
      return 1
    }
    const opened: number[] = []
    try {
      await run(parsed, io, opened)
      return 0
    } catch (error) {
      if (!(error instanceof PcpError)) throw error
      io.stderr.write(`${error.message}\n`)
      return 1
    } finally {
      for (const fd of opened) closeSync(fd)
    }
  },
}

/** Reads, preprocesses and writes; adds the file descriptors it opens to `opened`. */
async function run({ given, operands }: ParsedOptions, io: ToolIo, opened: number[]): Promise<void> {
  const has = (name: string): boolean => given.some((option) => option.name === name)
  const valuesOf = (name: string): string[] =>
    given.filter((option) => option.name === name).map(({ value }) => value)
  const [infile, outfile] = operands
  const file = infile ?? '<stdin>'
  const isPercent = has('s')
  let output: Output = io.stdout
  const trace = has('d') ? new CppTrace((text) => io.stderr.write(text)) : undefined
  const files = pmnsFiles(loadConfig(io.env).variables, {
    cwd: io.cwd,
    includeDirs: valuesOf('I'),
    ...(trace === undefined ? {} : { onTry: (path) => trace.include(path) }),
  })
  const preprocessor = new Preprocessor(
    {
      file,
      isPercent,
      isRestricted: has('r'),
      hasMarkers: !has('P'),
      ...(trace === undefined ? {} : { trace }),
      resolve: (name) => files.findInclude(name, file),
      runShell: (command) => {
        const directive = `${isPercent ? '%' : '#'}shell`
        try {
          return runShell(command, {
            cwd: io.cwd,
            env: io.env,
            directive,
            warn: (text) => io.stderr.write(text),
          })
        } catch (error) {
          throw PcpError.from(error, `Cannot run "${command}"`)
        }
      },
    },
    (text) => output.write(text),
  )
  for (const [i, definition] of valuesOf('D').entries()) preprocessor.define(definition, argumentOf(i, io))
  const input = infile === undefined ? undefined : openInput(infile, io)
  if (input !== undefined) opened.push(input)
  if (outfile !== undefined) {
    const fd = openOutput(outfile, io)
    opened.push(fd)
    output = new FdOutput(fd, () => {})
  }
  try {
    for await (const text of wholeLines(input === undefined ? io.stdin : blocksOf(input)))
      preprocessor.write(text)
    preprocessor.end()
    trace?.end()
  } finally {
    await output.flush()
  }
}

/** Returns the argument count up to the end of the i-th -D, which messages show. */
function argumentOf(i: number, io: ToolIo): number {
  for (let count = 1; count <= io.args.length; count++) {
    const { given } = parseOptions(OPTIONS, { args: io.args.slice(0, count), env: io.env })
    if (given.filter(({ name }) => name === 'D').length > i) return count + 1
  }
  return io.args.length + 1
}

function openInput(path: string, io: ToolIo): number {
  const full = resolve(io.cwd, path)
  let why = 'No such file or directory'
  try {
    // Checked first, because opening a FIFO would block until it has a writer.
    if (isReadableFile(full)) return openSync(full, 'r')
  } catch (error) {
    why = PcpError.from(error).text
  }
  throw new PcpError('PM_ERR_PMNS', `pmcpp: ${path}:\npmcpp: Error: ${why}`)
}

function openOutput(path: string, io: ToolIo): number {
  try {
    return openSync(resolve(io.cwd, path), 'w')
  } catch (error) {
    const why = PcpError.from(error).text
    throw new PcpError('PM_ERR_PMNS', `pmcpp: Cannot open outfile (${path}) for writing: ${why}`, {
      cause: error,
    })
  }
}

function* blocksOf(fd: number): Generator<Uint8Array> {
  const block = new Uint8Array(BLOCK)
  for (;;) {
    const size = readSync(fd, block, 0, BLOCK, null)
    if (size === 0) return
    yield block.subarray(0, size)
  }
}

/** Splits blocks of text at line ends, so that no character is split. The source may reuse its blocks. */
async function* wholeLines(blocks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): AsyncGenerator<string> {
  let rest: Uint8Array[] = []
  for await (const block of blocks) {
    const end = block.lastIndexOf(NEWLINE) + 1
    if (end > 0) {
      yield decodeText(join([...rest, block.subarray(0, end)]))
      rest = []
    }
    if (end < block.length) rest.push(block.slice(end))
  }
  if (rest.length > 0) yield decodeText(join(rest))
}

function join(parts: readonly Uint8Array[]): Uint8Array {
  if (parts.length === 1) return parts[0]!
  const whole = new Uint8Array(parts.reduce((size, part) => size + part.length, 0))
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}
