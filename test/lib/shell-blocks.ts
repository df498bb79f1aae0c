/**
 * Shell commands of the documentation: blocks ```sh, or ```console with `$ ` before commands and their output below.
 * A comment on the line above a block marks special cases:
 *
 *   needs: REASON        requires something not on every machine; the commands are parsed but not run
 *   serves after: TEXT   the last command keeps running while the page is read, once it has printed TEXT
 *   Ctrl-C after N lines commands are interrupted after that much output
 *   file: NAME           content of the file NAME instead of commands
 */
import { readFileSync } from 'node:fs'

/** One block of commands. */
export interface ShellBlock {
  readonly page: string
  /** Line of the opening fence, from 1. */
  readonly line: number
  readonly commands: readonly string[]
  /** Why it is not run. */
  readonly needs?: string
  readonly servesAfter?: string
  readonly linesBeforeInterrupt?: number
}

/** Blocks and code of a page. */
export interface ShellPage {
  readonly blocks: readonly ShellBlock[]
  readonly files: ReadonlyMap<string, string>
  /** Lines of other blocks and of indented code. */
  readonly otherCode: readonly string[]
  /** Inline code. */
  readonly spans: readonly string[]
}

const MARK = /^<!-- (needs|serves after|file|Ctrl-C after)(?:: | )(.+) -->$/

/** Reads a page. Throws for a mark without a suitable block. */
export function readShellPage(page: string): ShellPage {
  const lines = readFileSync(page, 'utf8').split('\n')
  const blocks: ShellBlock[] = []
  const files = new Map<string, string>()
  const otherCode: string[] = []
  const prose: string[] = []
  for (let i = 0; i < lines.length; i++) {
    const mark = MARK.exec(lines[i]!)
    if (mark !== null) i++
    const start = i
    const language = /^```(\w*)/.exec(lines[i] ?? '')?.[1]
    let code: string[] = []
    if (language !== undefined) {
      const end = lines.indexOf('```', i + 1)
      code = lines.slice(i + 1, end)
      i = end
    } else if (/^ {4}/.test(lines[i] ?? '') && (lines[i - 1] === '' || mark !== null)) {
      while (/^ {4}|^$/.test(lines[i + 1] ?? 'end')) i++
      code = lines.slice(start, i + 1).map((line) => line.slice(4))
    } else {
      if (mark !== null) throw new Error(`${page}:${start}: a mark without a block`)
      prose.push(lines[i]!)
      continue
    }
    const isShell = language === 'sh' || language === 'console'
    const [, kind, text = ''] = mark ?? []
    if (mark !== null && isShell === (kind === 'file'))
      throw new Error(`${page}:${start}: this mark is not for such a block`)
    if (isShell)
      blocks.push({
        page,
        line: start + 1,
        commands: commandLines(code, language === 'console'),
        ...marked(kind, text),
      })
    else otherCode.push(...code)
    if (kind === 'file') files.set(text, `${code.join('\n').trimEnd()}\n`)
  }
  const spans = Array.from(prose.join('\n').matchAll(/`([^`]+)`/g), ([, span]) => span!.replace(/\n/g, ' '))
  return { blocks, files, otherCode, spans }
}

function marked(kind: string | undefined, text: string): Partial<ShellBlock> {
  if (kind === 'needs') return { needs: text }
  if (kind === 'serves after') return { servesAfter: text }
  return kind === undefined ? {} : { linesBeforeInterrupt: Number.parseInt(text, 10) }
}

/** Returns the lines with commands, with continuation lines joined. */
function commandLines(code: readonly string[], isConsole: boolean): string[] {
  const text = isConsole ? code.filter((line) => line.startsWith('$ ')).map((line) => line.slice(2)) : code
  return text
    .join('\n')
    .replace(/\\\n/g, ' ')
    .split('\n')
    .filter((line) => line.trim() !== '' && !line.startsWith('#'))
}

/** Returns the commands of a line with their arguments, unquoted; without redirections, variables and comments. */
export function wordsOf(line: string): readonly (readonly string[])[] {
  const commands: string[][] = [[]]
  for (const [token] of line.matchAll(
    /(?<!\S)#.*|&&|\|\||[|;&]|\d?>{1,2} *\S+|(?:\([^)]*\)|'[^']*'|"[^"]*"|\$\([^)]*\)|[^\s'"|;&>])+/g,
  )) {
    if (token.startsWith('#')) break
    if (/^[|;&]/.test(token)) commands.push([])
    else if (!/^\d?>/.test(token)) commands.at(-1)!.push(token.replace(/'([^']*)'|"([^"]*)"/g, '$1$2'))
  }
  return commands
    .map((words) => words.slice(words.findIndex((word) => !/^\w+=/.test(word))))
    .filter((words) => words.length > 0 && !/^\w+=/.test(words[0]!))
}
