/** A page a command, from the man page that its option table makes. */
import { loadToolTables } from '../lib/tool-tables.mjs'
import { plain, ROWS } from './markdown.mjs'

/** Pages of all commands and their list, by path. */
export async function commandPages() {
  const { tools, manPage } = await loadToolTables()
  const known = new Set(tools.map(({ name }) => name))
  const rows = [...tools]
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .map(({ name, summary }) => `| [${name}](${name}.md) | ${plain(summary)} |`)
  const list = `# Commands

Each page is generated from the option table of the command, as are its man page (\`dist/man\`) and shell completion.

| Command | |
|---|---|
${rows.join('\n')}
`
  return [
    ['reference/commands/index', list],
    ...tools.map((tool) => [`reference/commands/${tool.name}`, markdownOf(manPage(tool, known))]),
  ]
}

/** Converts the man(7) macros that src/tools/lib/man.ts writes; throws for others. */
export function markdownOf(man) {
  const out = []
  const rows = []
  let term
  let isExample = false
  const endTable = () => {
    if (rows.length > 0) out.push('', '| | |', '|---|---|', ...rows.splice(0), '')
  }
  for (const line of man.split('\n')) {
    const [, macro, rest = ''] = /^\.([A-Z]+|\\")(?: (.*))?$/.exec(line) ?? []
    if (macro === undefined) {
      if (isExample) out.push(unescaped(line))
      else if (term === '') term = formatted(line)
      else if (term !== undefined) {
        rows.push(`| ${term} | ${formatted(line)} |`)
        term = undefined
      } else out.push(formatted(line))
    } else if (macro === 'TP') term = ''
    else if (macro === 'B' && term === '') term = `**${plain(unescaped(rest))}**`
    else {
      endTable()
      if (macro === 'SH' && rest === 'NAME') continue
      if (macro === 'TH') out.push(`# ${/"([^"]*)"/.exec(unescaped(rest))[1].toLowerCase()}`)
      else if (macro === 'SH' || macro === 'SS')
        out.push('', `${macro === 'SH' ? '##' : '###'} ${headingOf(rest)}`, '')
      else if (macro === 'PP') out.push('')
      else if (macro === 'B') out.push(`**${plain(unescaped(rest))}**`)
      else if (macro === 'BR') out.push(unescaped(rest).replace(/^(\S+) \(1\)/, '[$1]($1.md)'))
      else if (macro === 'EX' || macro === 'EE') {
        out.push(macro === 'EX' ? '\n```text' : '```\n')
        isExample = macro === 'EX'
      } else if (!['RS', 'RE', '\\"'].includes(macro)) throw new Error(`no Markdown for ${line}`)
    }
  }
  endTable()
  return `${ROWS}${out
    .join('\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim()}\n`
}

/** Text without the escapes of man(7). */
const unescaped = (text) =>
  text
    .replace(/\\\(dq/g, '"')
    .replace(/\\\(cq/g, '’')
    .replace(/\\&/g, '')
    .replace(/\\e/g, '\\')
    .replace(/\\-/g, '-')

/** Text with its fonts as Markdown. */
function formatted(line) {
  return line
    .split(/(\\f[BI].*?\\fR)/)
    .map((part) => {
      const [, font, text] = /^\\f([BI])(.*)\\fR$/.exec(part) ?? []
      if (font === undefined) return plain(unescaped(part))
      const mark = font === 'B' ? '**' : '*'
      return `${mark}${plain(unescaped(text))}${mark}`
    })
    .join('')
}

/** `EXIT STATUS` as a heading: Exit status. */
function headingOf(text) {
  const title = unescaped(text).replaceAll('"', '')
  return title === title.toUpperCase() ? title[0] + title.slice(1).toLowerCase() : title
}
