/**
 * Untrusted names and values on a terminal: every executable of the package, over an archive whose names, values, labels
 * and texts are escape sequences, and with such an argument. New executables in package.json are included automatically.
 */
import { isUtf8 } from 'node:buffer'
import { spawnSync } from 'node:child_process'
import { copyFileSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { AGENTS } from '../../src/agents/registry.ts'
import { operandKind } from '../../src/tools/lib/completion.ts'
import type { Option } from '../../src/tools/lib/options.ts'
import type { Tool } from '../../src/tools/lib/tool.ts'
import { TOOLS } from '../../src/tools/registry.ts'
import { programOf } from '../lib/commands.ts'
import { hasTerminals, onTerminal } from '../lib/pseudo-terminal.ts'
import { hostArchive } from '../tools/pcp/host-archive.ts'

/** Four bytes replaced by invalid UTF-8: the eight-bit forms of two controls, alone and after an invalid lead byte. */
const STAND_IN = '\x01\x02\x01\x03'
const BYTES = Uint8Array.of(0x9b, 0xff, 0x9d, 0xfe)
/** Sequences that our commands never write: a terminal query, the clipboard, a title, colours, and deceptive characters. */
const EVIL = `\x1b[6n\x1b]52;c;ZXZpbA==\x07\x1b[38;5;1m\u009b5n\u202eevil\u2066\u200b\u2028\r\b\x7f\x0e${STAND_IN}`
/** After a newline: a line that the command did not write. */
const FORGED = 'forged line'

/** Sequences that a command itself may write. */
const OWN: Readonly<Record<string, RegExp>> = {
  // Colours of a theme, cursor and line state, and a title without controls.
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the test looks for them
  'pcp-dstat': /\x1b\[(?:[01];)?\d{1,2}m|\x1b\[(?:7l|2K|s)|\r(?=\x1b)|\x1b\]0;[ -~\x80-\xff]*\x07/g,
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the test looks for them
  'pcp-atop': /\x1b\[(?:\?1049|\?25)[hl]|\x1b\[[0-2]?[HJK]|\x1b\[\d+;\d+H|\x1b\[(?:0|7|3\d)m|\r\n/g,
}

/** Controls, direction marks and zero-width characters. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the test looks for them
const HARM = /[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f]/g

/** Returns bytes that a terminal would interpret or that deceive a reader, other than a report's newlines and tabs. */
function harmIn(bytes: string, own: RegExp | undefined): string[] {
  const rest = Buffer.from(own === undefined ? bytes : bytes.replace(own, ''), 'latin1')
  if (!isUtf8(rest)) return ['bytes that are not UTF-8']
  const text = rest.toString()
  return [...text.matchAll(HARM)]
    .slice(0, 3)
    .map(({ index }) => JSON.stringify(text.slice(Math.max(0, index - 20), index + 20)))
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: the test looks for them
const NOT_IN_XML = /[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/

const EXECUTABLES: readonly (readonly [name: string, program: readonly string[]])[] = [
  ...TOOLS.filter(({ isForScripts }) => isForScripts !== true).map(({ name }) => name),
  ...AGENTS.map(({ name }) => `pmda${name}`),
].map((name) => [name, programOf(name)])
const TOOL_BY_NAME = new Map(
  await Promise.all(TOOLS.map(async ({ name, load }) => [name, await load()] as const)),
)

/** Commands that create an archive from another. */
const TAKES_TWO = /^(?:pmlogcp|pmlogmv|pmlogextract|pmlogreduce|pmlogrewrite|pmlogger_merge)$/
const CHANGES = /^(?:pmlogmv|pmlogcompress|pmlogrewrite|pmlogger_merge)$/
/** Commands that read other archives than given, or write there. */
const NO_ARCHIVE = /^(?:pmlogger|pmlogger_rewrite|pcp-ts.*)$/
/** Operands of commands that do not show every metric. */
const OPERANDS: Readonly<Record<string, readonly string[]>> = {
  pmrep: ['-s', '2', '-w', '60', 'kernel.all.load', 'proc.psinfo.psargs'],
  pmval: ['-s', '2', 'kernel.all.load'],
  pminfo: ['-dfmtT', '-l'],
  pmprobe: ['-I'],
  pmdumptext: ['-s', '2', '-H', '-N', '-M', '-l', 'disk.dev.read[]'],
  pmdumplog: ['-a'],
  pmlogdump: ['-a'],
  'pcp-atop': ['1', '2'],
  'pcp-dstat': ['-d', '-D', 'total', '--top-cpu', '1', '2'],
  'pcp-pidstat': ['-l'],
  'pcp-ps': ['-u'],
  pmloglabel: ['-l'],
  pcp2json: ['-s', '2', '-X', 'kernel.all.load', 'proc.psinfo.psargs'],
  pcp2xml: ['-s', '2', '-X', 'kernel.all.load', 'proc.psinfo.psargs'],
  pcp2openmetrics: ['-s', '2', 'kernel.all.load'],
}
/** Reports that contain names, to prove that names were read and shown. */
const SHOWS_NAMES = [
  ...['pminfo', 'pmprobe', 'pmval', 'pmrep', 'pmdumptext', 'pmdumplog', 'pmlogsummary', 'pmloglabel'],
  ...['pcp', 'pcp-atop', 'pcp-dstat', 'pcp-ps', 'pcp-pidstat', 'pcp-iostat', 'pcp-mpstat', 'pcp-ss'],
  ...['pcp2json', 'pcp2xml'],
]

function readsArchives(tool: Tool): boolean {
  const rows = (tool.options?.rows ?? []).filter((row): row is Option => !('heading' in row))
  return rows.some(({ long, arg, help }) => long === 'archive' && arg === 'FILE' && help !== undefined)
}

function archiveArgs(name: string, path: string, dir: string): readonly string[] | undefined {
  const tool = TOOL_BY_NAME.get(name)
  if (tool === undefined || NO_ARCHIVE.test(name)) return undefined
  if (operandKind(tool.options) === 'archive') {
    const more = TAKES_TWO.test(name) ? [join(dir, `made-by-${name}`)] : []
    return [...(OPERANDS[name] ?? []), path, ...more]
  }
  // Programs run by `pcp` get the archive from it.
  if (readsArchives(tool) || name.startsWith('pcp-'))
    return [...(readsArchives(tool) ? [`--archive=${path}`] : []), ...(OPERANDS[name] ?? [])]
  return undefined
}

/** Returns the arguments with which `pcp` runs its program. */
function given(args: readonly string[], path: string): readonly string[] {
  return args.some((arg) => arg.includes(path)) ? [] : ['env', `PCP_ARCHIVE=${path}`]
}

let archive: ReturnType<typeof hostArchive>
const shown = new Map<string, string>()

describe.skipIf(!hasTerminals)('on a terminal', () => {
  beforeAll(async () => {
    archive = hostArchive([], `${EVIL}\n${FORGED}`)
    for (const file of readdirSync(archive.directory)) spoil(join(archive.directory, file))
    const { directory: dir, path } = archive
    // For commands that modify an archive.
    const copy = join(dir, 'copy')
    for (const part of ['0', 'meta']) copyFileSync(`${path}.${part}`, `${copy}.${part}`)
    const { NODE_EXTRA_CA_CERTS: _, PCP_HOST: __, ...rest } = process.env
    const env = { ...rest, HOME: dir, TERM: 'xterm', LC_ALL: 'C.UTF-8', PCP_TMPFILE_DIR: dir }
    const runs = EXECUTABLES.flatMap(([name, words]) => {
      const program = [process.execPath, ...words]
      const args = archiveArgs(name, CHANGES.test(name) ? copy : path, dir)
      return [
        ...(args === undefined
          ? []
          : [{ name: `${name} over an archive`, args: [...given(args, path), ...program, ...args] }]),
        ...(name === 'pmpost' ? [] : [{ name: `${name} with an argument`, args: [...program, `--${EVIL}`] }]),
      ]
    })
    runs.push({
      name: 'pcp-atop on a screen',
      args: [process.execPath, resolve('bin/pcp-atop'), `--archive=${path}`, '1'],
    })
    const half = Math.ceil(runs.length / 2)
    await Promise.all(
      [runs.slice(0, half), runs.slice(half)].map(async (part) => {
        const commands = part.map(({ name, args }) =>
          name.endsWith('screen') ? { args, typed: 'q' } : { args },
        )
        const written = await onTerminal(commands, { dir, env, limitSec: 20 })
        for (const [i, { name }] of part.entries()) shown.set(name, written[i]!)
      }),
    )
  })
  afterAll(() => archive?.remove())

  test('no executable passes on sequences that a terminal interprets', () => {
    const harm = [...shown].flatMap(([name, bytes]) => {
      const found = harmIn(bytes, OWN[name.split(' ', 1)[0]!])
      // XML text may contain newlines; they are not lines of a report.
      if (name !== 'pcp2xml over an archive' && bytes.includes(`\n${FORGED}`)) found.push(FORGED)
      return found.length === 0 ? [] : [`${name}: ${found.join(' ')}`]
    })
    expect(harm).toEqual([])
    expect(shown.size).toBeGreaterThan(EXECUTABLES.length)
  })

  test.each(SHOWS_NAMES)('%s still shows the names', (name) => {
    // Escaped as in JSON and XML, or as a picture.
    const sequence = { pcp2json: '\\u001b', pcp2xml: '\ufffd' }[name] ?? '␛'
    expect(Buffer.from(shown.get(`${name} over an archive`)!, 'latin1').toString()).toContain(
      `${sequence}[6n`,
    )
  })

  test('a pipe gets every byte unchanged', () => {
    const { stdout } = piped('pmprobe', '-I', 'proc.nprocs', 'proc.psinfo.pid')
    const name = Buffer.concat([Buffer.from(EVIL.slice(0, -STAND_IN.length)), BYTES])
    expect(stdout.includes(name)).toBe(true)
  })

  test('XML and OpenMetrics are valid whatever names contain', () => {
    for (const [name, args] of [
      ['pcp2xml', ['kernel.all.load', 'proc.psinfo.psargs']],
      ['pcp2openmetrics', ['kernel.all.load']],
    ] as const) {
      const { stdout } = piped(name, '-s', '2', ...args)
      expect(isUtf8(stdout)).toBe(true)
      const text = stdout.toString()
      expect(text).toContain('[6n')
      if (name === 'pcp2xml') expect(text).not.toMatch(NOT_IN_XML)
      else for (const line of text.trimEnd().split('\n')) expect(line).toMatch(/^(?:#|kernel_all_load\{)/)
    }
  })

  /** Returns the output of a command over the archive to a pipe. */
  function piped(name: string, ...args: string[]): { readonly stdout: Buffer } {
    return spawnSync(process.execPath, [resolve('bin', name), `--archive=${archive.path}`, ...args], {
      env: { PATH: process.env['PATH'], HOME: archive.directory, PCP_DERIVED_CONFIG: '' },
    })
  }

  test('atop shows its screen, with names made harmless', () => {
    const text = Buffer.from(shown.get('pcp-atop on a screen')!, 'latin1').toString()
    expect(text).toContain('\x1b[?1049h')
    expect(text).toContain('␛[6n')
  })
})

function spoil(file: string): void {
  const bytes = readFileSync(file)
  const standIn = Buffer.from(STAND_IN)
  for (let at = bytes.indexOf(standIn); at >= 0; at = bytes.indexOf(standIn, at)) bytes.set(BYTES, at)
  writeFileSync(file, bytes)
}
