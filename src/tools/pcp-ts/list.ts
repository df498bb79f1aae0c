/** The list of commands that `pcp-ts` prints: its own with their summaries, then PCP's names in groups. */
import { AGENTS } from '../../agents/registry.ts'
import type { CommandEntry } from '../lib/tool.ts'
import { balancedLines } from '../lib/wrap.ts'

const PREFIX = 'pcp-ts-'
/** Width of the lists of names. */
const TEXT_WIDTH = 78
/** Subcommands in the order a new user needs them; others follow. */
const FIRST = [
  'start',
  'status',
  'doctor',
  'service',
  'agent',
  'incident',
  'mcp',
  'link',
  'unlink',
  'man',
  'completion',
  'help',
]

/** Groups of commands; a command is in the first whose pattern it matches. */
const GROUPS: readonly (readonly [heading: string, pattern: RegExp])[] = [
  ['Look at metrics', /^(pminfo|pmprobe|pmval|pmevent|pmrep|pmstat|pmdumptext|pmstore|pmfind|pmclient)$/],
  ['Reports', /^(pcp|pcp-.*|pmiostat)$/],
  ['Export and import', /^(pcp2.*|sheet2pcp)$/],
  ['Record', /^(pmlogger(_check|_daily|_merge|_rewrite)?|pmlogctl|pmlc|pmlogconf|pmrepconf)$/],
  ['Archives', /^(pmlog.*|pmdumplog|pmdiff|pmafm|mkaf)$/],
  ['Rules', /^pmie/],
  ['Collector and web server', /^(pmcd|pmcd_wait|pmproxy|pmpasswd|pmpost)$/],
  ['Agents', /^(pmda(?!te$).*|dbpmda|newhelp|chkhelp|pmns.*)$/],
  ['Scripts and configuration', /./],
]

/** Returns the names of PCP's commands and of the agents' daemons, sorted. Capitals are for scripts only. */
export function classicNames(commands: readonly CommandEntry[]): readonly string[] {
  const tools = commands.filter(
    ({ name, subcommandOf }) => subcommandOf === undefined && name !== 'pcp-ts' && /^[a-z]/.test(name),
  )
  return [...tools.map(({ name }) => name), ...AGENTS.map(({ name }) => `pmda${name}`)].sort()
}

/** Returns the list as text. */
export async function listText(
  commands: readonly CommandEntry[],
  progname: string,
  synopsis: string,
): Promise<string> {
  const own = commands.filter(({ subcommandOf }) => subcommandOf === 'pcp-ts')
  const rows = await Promise.all(
    own.map(async ({ name, load }) => ({ word: name.slice(PREFIX.length), summary: (await load()).summary })),
  )
  const rank = (word: string): number => (FIRST.includes(word) ? FIRST.indexOf(word) : FIRST.length)
  rows.sort((a, b) => rank(a.word) - rank(b.word) || (a.word < b.word ? -1 : 1))
  const width = Math.max(0, ...rows.map(({ word }) => word.length))
  const groups = new Map<string, string[]>()
  for (const name of classicNames(commands)) {
    const [heading] = GROUPS.find(([, pattern]) => pattern.test(name))!
    groups.set(heading, [...(groups.get(heading) ?? []), name])
  }
  const lists = GROUPS.flatMap(([heading]) => {
    const names = groups.get(heading)
    if (names === undefined) return []
    return [
      `  ${heading}:\n${balancedLines(names, TEXT_WIDTH - 4)
        .map((line) => `    ${line}\n`)
        .join('')}`,
    ]
  })
  return `Usage: ${progname} ${synopsis}

To begin:
${rows.map(({ word, summary }) => `  ${word.padEnd(width)}  ${summary}\n`).join('')}
Commands of Performance Co-Pilot (${progname} NAME ...):
${lists.join('')}
${progname} help NAME shows the options of a command, ${progname} man NAME its page.
`
}
