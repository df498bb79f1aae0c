/** Generates a command's man page from its option table and description. man(7), docs/how-to/tools.md */
import { VERSION } from '../../base/version.ts'
import type { Option, OptionTable } from './options.ts'
import { STANDARD, type StandardName, variablesOf } from './standard.ts'
import type { Tool } from './tool.ts'

/** Man pages related to standard options. */
const RELATED: readonly (readonly [StandardName, readonly string[]])[] = [
  ['host', ['pmcd']],
  ['archive', ['pmlogger']],
  ['namespace', ['pmnsmerge']],
  ['debug', ['pmdbg']],
]

/** Variables that the library reads for a standard option. docs/reference/environment.md */
const LIBRARY_VARIABLES: readonly (readonly [StandardName, readonly (readonly [string, string])[]])[] = [
  [
    'host',
    [
      ['PMCD_PORT', 'default ports of collectors, separated by commas (default 44321)'],
      ['PMCD_SOCKET', 'unix socket of the collector of this host (default: found)'],
      ['PCP_TS_RUN_DIRS', 'run directories in which the collector of this host is looked for'],
      ['PMCD_CONNECT_TIMEOUT', 'seconds to wait for a connection (default 5)'],
      ['PMCD_REQUEST_TIMEOUT', 'seconds to wait for a reply (default 10)'],
      ['PMPROXY_HOST', 'connect through the pmproxy on this host'],
      ['PCP_SECURE_SOCKETS', 'enforce or relaxed: encrypt connections'],
    ],
  ],
  [
    'archive',
    [
      ['PCP_IGNORE_MARK_RECORDS', 'interpolate across gaps of a recording up to this interval'],
      ['PCP_INTERP_EARLIER', 'interpolate values other than counters by the earlier observation'],
    ],
  ],
  ['derived', [['PCP_DERIVED_CONFIG', 'files of derived metrics, separated by colons']]],
]

/** Returns the page in man(7) macros. SEE ALSO only refers to `known` commands. */
export function manPage(tool: Tool, known: ReadonlySet<string>): string {
  const { name, summary, options } = tool
  const parts = [
    `.\\" Generated from the option table of ${name}: change that.`,
    `.TH ${quoted(name.toUpperCase())} 1 "" ${quoted(`pcp-ts ${VERSION}`)} "Performance Co-Pilot"`,
    `.SH NAME\n${escaped(name)} \\- ${escaped(lowerFirst(summary))}`,
    `.SH SYNOPSIS\n.B ${escaped(name.replace(/^pcp-ts-/, 'pcp-ts '))}${options === undefined ? '' : `\n${escaped(options.synopsis)}`}`,
    `.SH DESCRIPTION\n${paragraphs(tool.description ?? `${summary}.`)}`,
    ...(options === undefined ? [] : [optionSection(options)]),
    exitSection(tool),
    ...(tool.examples === undefined ? [] : [exampleSection(tool.examples)]),
    ...environmentSection(tool),
    ...seeAlsoSection(tool, known),
  ]
  return `${parts.join('\n')}\n`
}

function optionSection({ rows }: OptionTable): string {
  const lines = ['.SH OPTIONS']
  // Printed with its first option, as a heading without options would be an empty section.
  let heading: string | undefined
  for (const row of rows) {
    if ('heading' in row) {
      heading = row.heading
      continue
    }
    const help = helpOf(row)
    if (help === undefined) continue
    if (heading !== undefined) lines.push(`.SS ${quoted(heading)}`)
    heading = undefined
    lines.push('.TP', `${forms(row)}`, escaped(help))
  }
  return lines.join('\n')
}

/** -D is in every page but in no usage text. Other options without help are private. */
function helpOf(row: Option): string | undefined {
  if (row === STANDARD.debug) return 'print diagnostics on standard error; pmdbg -l lists the NAMES'
  return row.help
}

function forms({ short, long, arg, isOptional }: Option): string {
  const bold = (text: string): string => `\\fB${escaped(text)}\\fR`
  const argument = arg === undefined ? '' : `\\fI${escaped(arg)}\\fR`
  const [blank, equals] =
    isOptional === true ? [`[${argument}]`, `[=${argument}]`] : [` ${argument}`, `=${argument}`]
  const list: string[] = []
  if (short !== undefined) list.push(`${bold(`-${short}`)}${arg === undefined ? '' : blank}`)
  if (long !== undefined) list.push(`${bold(`--${long}`)}${arg === undefined ? '' : equals}`)
  return list.join(', ')
}

function exitSection({ exitStatus = [] }: Tool): string {
  const given = new Map(exitStatus)
  const standard: (readonly [number, string])[] = [
    [0, 'success'],
    [1, 'an error, with a message on standard error, or the usage text was shown'],
  ]
  const all = [...standard.filter(([status]) => !given.has(status)), ...exitStatus].sort(([a], [b]) => a - b)
  return `.SH EXIT STATUS\n${all.map(([status, meaning]) => `.TP\n.B ${status}\n${escaped(meaning)}`).join('\n')}`
}

function exampleSection(examples: NonNullable<Tool['examples']>): string {
  const each = examples.map(
    ([command, purpose]) => `${escaped(purpose)}\n.PP\n.RS 4\n.EX\n${escaped(command)}\n.EE\n.RE`,
  )
  return `.SH EXAMPLES\n${each.join('\n.PP\n')}`
}

function environmentSection({ options, environment = [] }: Tool): string[] {
  const rows: readonly unknown[] = options?.rows ?? []
  const ofOptions = rows.flatMap((row) =>
    variablesOf(row).map((name) => [name, `default for ${forms(row as Option)}`] as const),
  )
  const others = [
    ...environment,
    ...LIBRARY_VARIABLES.flatMap(([option, variables]) => (rows.includes(STANDARD[option]) ? variables : [])),
  ].map(([name, meaning]) => [name, escaped(meaning)] as const)
  if (ofOptions.length + others.length === 0) return []
  const lines = [...ofOptions, ...others].map(([name, meaning]) => `.TP\n.B ${name}\n${meaning}`)
  return [`.SH ENVIRONMENT\n${lines.join('\n')}`]
}

function seeAlsoSection({ name, options, seeAlso = [] }: Tool, known: ReadonlySet<string>): string[] {
  const rows = new Set<unknown>(options?.rows ?? [])
  const related = RELATED.filter(([option]) => rows.has(STANDARD[option])).flatMap(([, names]) => names)
  const names = new Set([...seeAlso, ...related].filter((other) => other !== name && known.has(other)))
  if (names.size === 0) return []
  const list = [...names].sort().map((other) => `.BR ${escaped(other)} (1)`)
  return [`.SH SEE ALSO\n${list.join(',\n')}`]
}

/** Formats paragraphs, which empty lines separate. Indented lines stay unfilled. */
function paragraphs(text: string): string {
  return text
    .trim()
    .split(/\n\s*\n/)
    .map((paragraph) =>
      /^\s/.test(paragraph)
        ? `.RS 4\n.EX\n${escaped(paragraph.replace(/^ {2,4}/gm, ''))}\n.EE\n.RE`
        : escaped(paragraph.replace(/\s+/g, ' ')),
    )
    .join('\n.PP\n')
}

/** Escapes text for man(7). A dot or an apostrophe at the beginning of a line would be a macro. */
function escaped(text: string): string {
  return text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replaceAll('’', '\\(cq') // formatters read bytes as Latin-1
    .replace(/^(?=[.'])/gm, '\\&')
}

function quoted(text: string): string {
  return `"${escaped(text).replaceAll('"', '\\(dq')}"`
}

/** Begins a summary in lower case for the NAME line. Names keep their capitals. */
function lowerFirst(text: string): string {
  return /^[A-Z][a-z]/.test(text) ? text[0]!.toLowerCase() + text.slice(1) : text
}
