/**
 * Shell commands of the documentation. They are in blocks ```sh, or ```console with `$ ` before them and what they print below.
 * A comment on the line above a block says what a reader knows or does besides:
 *
 *   needs: REASON        what is not on each machine; the commands are parsed and not run
 *   serves after: TEXT   the last command runs on while the page is read, once it has printed TEXT
 *   Ctrl-C after N lines commands that print so many are ended then
 *   file: NAME           no commands: what the reader has written to the file NAME
 */
import { readFileSync } from 'node:fs'

/** Commands that belong together. */
export interface ShellBlock {
  readonly page: string
  /** Of the opening fence, from 1. */
  readonly line: number
  readonly commands: readonly string[]
  /** Why it is not run. */
  readonly needs?: string
  readonly servesAfter?: string
  readonly linesBeforeInterrupt?: number
}

/** What a page has for its reader. */
export interface ShellPage {
  readonly blocks: readonly ShellBlock[]
  readonly files: ReadonlyMap<string, string>
  /** Lines of other blocks and of indented code. */
  readonly otherCode: readonly string[]
  /** Code among words. */
  readonly spans: readonly string[]
}

const MARK = /^<!-- (needs|serves after|file|Ctrl-C after)(?:: | )(.+) -->$/

/** Reads a page. Throws where a mark is above nothing that it could be about. */
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

/** The lines with commands, continued ones joined. */
function commandLines(code: readonly string[], isConsole: boolean): string[] {
  const text = isConsole ? code.filter((line) => line.startsWith('$ ')).map((line) => line.slice(2)) : code
  return text
    .join('\n')
    .replace(/\\\n/g, ' ')
    .split('\n')
    .filter((line) => line.trim() !== '' && !line.startsWith('#'))
}

/** The commands of a line with their arguments, quotes resolved; redirections, variables and comments are left out. */
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
