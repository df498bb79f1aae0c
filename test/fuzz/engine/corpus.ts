/** The kept inputs of an entry: one file, one input per line, readable if they are text. */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const CORPUS = 'test/fuzz/corpus'
/** One file per input, named NAME-WHAT, with exactly its bytes: inputs that once failed. */
const FINDS = 'test/fuzz/finds'
const BASE64 = 'base64:'
const ESCAPES: Readonly<Record<string, string>> = { '\n': '\\n', '\t': '\\t', '\\': '\\\\' }
const UNESCAPED: Readonly<Record<string, string>> = { n: '\n', t: '\t', '\\': '\\' }

/** Returns the kept inputs of an entry; none if it has no file yet. */
export function readCorpus(name: string): Uint8Array[] {
  const path = corpusPath(name)
  if (!existsSync(path)) return []
  return readFileSync(path, 'utf8').split('\n').slice(0, -1).map(fromLine)
}

/** Replaces the kept inputs of an entry, the shortest first. */
export function writeCorpus(name: string, inputs: readonly Uint8Array[]): void {
  const lines = inputs.map(toLine).sort((a, b) => a.length - b.length || (a < b ? -1 : 1))
  writeFileSync(corpusPath(name), lines.map((line) => `${line}\n`).join(''))
}

/** Returns the inputs that once made an entry fail, by file name. */
export function readFinds(name: string): ReadonlyMap<string, Uint8Array> {
  const files = existsSync(FINDS) ? readdirSync(FINDS).filter((file) => file.split('.')[0] === name) : []
  return new Map(files.map((file) => [file, new Uint8Array(readFileSync(join(FINDS, file)))]))
}

function corpusPath(name: string): string {
  return join(CORPUS, `${name}.txt`)
}

/** Writes an input as a line of printable ASCII. */
export function toLine(input: Uint8Array): string {
  const text = Buffer.from(input).toString('latin1')
  const escaped = text.replace(/[^ -~]|\\/g, (char) => ESCAPES[char] ?? `\\x${hex(char)}`)
  const base64 = BASE64 + Buffer.from(input).toString('base64')
  if (base64.length < escaped.length) return base64
  return escaped.startsWith(BASE64) ? `\\x62${escaped.slice(1)}` : escaped
}

/** Parses a line of `toLine`. */
export function fromLine(line: string): Uint8Array {
  if (line.startsWith(BASE64)) return new Uint8Array(Buffer.from(line.slice(BASE64.length), 'base64'))
  const text = line.replace(/\\(?:x([\da-f]{2})|(.))/g, (_, code?: string, char?: string) =>
    code === undefined ? UNESCAPED[char!]! : String.fromCharCode(Number.parseInt(code, 16)),
  )
  return new Uint8Array(Buffer.from(text, 'latin1'))
}

function hex(char: string): string {
  return char.charCodeAt(0).toString(16).padStart(2, '0')
}
