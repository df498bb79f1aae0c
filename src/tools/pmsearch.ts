/** pmsearch: finds metrics, instances and instance domains by the words of their names and help texts. pmsearch(1) */
import { printable } from '../base/printable.ts'
import { PcpError } from '../model/errors.ts'
import type { SearchText, SeriesStore } from '../series/store.ts'
import { highlightedWith, TextIndex } from '../series/text-index.ts'
import {
  HELP_ROW,
  handleEarlyExit,
  type OptionTable,
  type ParsedOptions,
  parseOptions,
  usageText,
  VERSION_ROW,
} from './lib/options.ts'
import { archiveDirectories, openArchives } from './lib/series-archives.ts'
import type { Tool, ToolIo } from './lib/tool.ts'

const OPTIONS: OptionTable = {
  synopsis: '[options] [query | indom]',
  operands: 'none',
  rows: [
    { heading: 'Source options' },
    { long: 'directory', arg: 'DIR', help: 'search the archives below DIR; may be given several times' },
    { heading: 'General options' },
    { short: 'C', long: 'no-colour', help: 'do not highlight words' },
    { short: 'i', long: 'info', help: 'show the size of the index' },
    { short: 'n', long: 'indom', help: 'show an instance domain, its instances and its metrics' },
    { short: 'N', long: 'number', arg: 'N', kind: 'none', help: 'show N results at most (default 10)' },
    { short: 'O', long: 'offset', arg: 'N', kind: 'none', help: 'skip the first N results' },
    { short: 'q', long: 'query', help: 'search for words (default)' },
    { short: 's', long: 'suggest', help: 'show names that begin with a text' },
    { short: 'S', long: 'score', help: 'show the score of each result' },
    { short: 't', long: 'total', help: 'show the number of results' },
    { short: 'T', long: 'times', help: 'show how long the search took' },
    VERSION_ROW,
    HELP_ROW,
  ],
}
const DEFAULT_NUMBER = 10
/** Escape sequences before and after words in a terminal. */
const BOLD: readonly [string, string] = ['\u001b[1m', '\u001b[0m']

/** A result; names that are only suggested have no score. */
interface Found {
  readonly text: SearchText
  readonly score: number | undefined
}

/** Searches. Status 1 for an error; no result is success. */
export const tool: Tool = {
  name: 'pmsearch',
  summary: 'Search names and help texts of metrics in archives',
  description: `
Finds the metrics, instances and instance domains of archives whose names or help texts have all words of a query. The best results are
first: a word counts more in a name than in a help text, and more if it is rare. By default the archives are those that loggers of this
host and a running npm start write.`,
  examples: [
    ['pmsearch disk read bytes', 'Find metrics by words:'],
    ['pmsearch -s kernel.all.c', 'Complete a name:'],
    [
      'pmsearch --directory /srv/archives -n 60.1',
      'Show an instance domain, with its instances and metrics:',
    ],
  ],
  seeAlso: ['pmseries', 'pminfo', 'pmproxy'],
  options: OPTIONS,
  async run(io) {
    const parsed = parseOptions(OPTIONS, io)
    const status = handleEarlyExit(OPTIONS, parsed, io)
    if (status !== undefined) return status
    try {
      const has = (letter: string): boolean => parsed.given.some(({ name }) => name === letter)
      if (parsed.operands.length === 0 && !has('i')) {
        io.stderr.write(usageText(OPTIONS, io.progname))
        return 1
      }
      const store = openArchives(archiveDirectories(parsed, io), io)
      try {
        await search(store, parsed, has, io)
        return 0
      } finally {
        await store.close()
      }
    } catch (error) {
      if (!(error instanceof PcpError)) throw error
      io.stderr.write(`${io.progname}: [Error] ${error.message}\n`)
      return 1
    }
  },
}

async function search(
  store: SeriesStore,
  parsed: ParsedOptions,
  has: (letter: string) => boolean,
  io: ToolIo,
): Promise<void> {
  const offset = numberOf(parsed, 'O', 0)
  const most = numberOf(parsed, 'N', DEFAULT_NUMBER)
  const query = parsed.operands.join(' ')
  const begun = performance.now()
  const index = new TextIndex(await store.texts())
  if (has('i')) {
    const { texts, words, occurrences } = index.size
    io.stdout.write(`Documents: ${texts}\nTerms: ${words}\nRecords: ${occurrences}\n`)
    return
  }
  if (has('s')) {
    for (const name of index.suggest(query, offset + most).slice(offset)) io.stdout.write(`${name}\n`)
    return
  }
  const found: readonly Found[] = has('n')
    ? index.domain(query).map((text) => ({ text, score: undefined }))
    : index.ranked(query)
  if (has('t')) io.stdout.write(`Total: ${found.length}\n`)
  if (has('T')) io.stdout.write(`Time: ${((performance.now() - begun) / 1000).toFixed(6)} seconds\n`)
  const isMarked = !has('C') && !has('n') && io.stdout.isTerminal
  const mark = (text: string): string => (isMarked ? highlightedWith(printable(text), query, BOLD) : text)
  const shown = found.slice(offset, offset + most)
  const text = shown.map((each) => resultText(each, has('S'), mark)).join('\n')
  if (isMarked) io.stdout.writeControls(text)
  else io.stdout.write(text)
}

/** Returns a result as lines; members without text are left out. */
function resultText(
  { text: { type, name, indom, oneline, help }, score }: Found,
  showsScore: boolean,
  mark: (text: string) => string,
): string {
  const lines = [`Type: ${type}`, `Name: ${mark(name)}`]
  if (indom !== undefined && type !== 'indom') lines.push(`InDom: ${indom}`)
  if (oneline !== '') lines.push(`One line: ${mark(oneline)}`)
  else if (help !== '') lines.push(`Help: ${mark(help)}`)
  if (showsScore && score !== undefined) lines.push(`Score: ${score.toFixed(2)}`)
  return `${lines.join('\n')}\n`
}

function numberOf({ given }: ParsedOptions, letter: string, byDefault: number): number {
  const text = given.findLast(({ name }) => name === letter)?.value
  if (text === undefined) return byDefault
  if (/^\d{1,9}$/.test(text)) return Number(text)
  throw new PcpError('EINVAL', `-${letter} ${text}: give a whole number`)
}
