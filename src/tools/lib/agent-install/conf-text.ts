/** Adds and removes an agent's line in pmcd.conf. pmcd(1), docs/reference/agent-toolkit.md */

/** The line of an agent. */
export interface AgentLine {
  readonly name: string
  readonly domain: number
  /** The text after the domain: `pipe binary /path/pmdaNAME`. */
  readonly rest: string
}

/** A changed pmcd.conf. */
export interface ChangedConf {
  readonly text: string
  /** Removed lines of other agents with the same name or domain. */
  readonly displaced: readonly string[]
  /** Did this agent have a line before? */
  readonly hadLine: boolean
}

/**
 * Puts `line` into the text and removes other lines of the same name or domain; without `line` only removes. Agents are
 * sorted by domain, with their comments before them, and the access section is last.
 */
export function changeConf(
  text: string,
  agent: Pick<AgentLine, 'name' | 'domain'>,
  line?: AgentLine,
): ChangedConf {
  const { comments, agents, access } = sectionsOf(text)
  const kept: Row[] = []
  const displaced: string[] = []
  let hadLine = false
  for (const row of agents) {
    const isIt = row.name === agent.name && row.domain === agent.domain
    const isInTheWay = line !== undefined && (row.name === line.name || row.domain === line.domain)
    if (isIt) hadLine = true
    else if (isInTheWay) displaced.push(row.text)
    else kept.push(row)
  }
  if (line !== undefined)
    kept.push({ ...line, text: `${line.name}\t${line.domain}\t${line.rest}`, order: kept.length })
  kept.sort((a, b) => a.domain - b.domain || a.order - b.order)
  const body = [...comments, ...kept.map((row) => row.text)].map((each) => `${each}\n`).join('')
  return { text: access === '' ? body : `${body}\n${access}`, displaced, hadLine }
}

interface Row {
  readonly name: string
  readonly domain: number
  readonly text: string
  /** Sort key; lines without a readable domain keep their position. */
  readonly order: number
}

function sectionsOf(text: string): {
  readonly comments: readonly string[]
  readonly agents: readonly Row[]
  readonly access: string
} {
  const comments: string[] = []
  const agents: Row[] = []
  const lines = text.split('\n')
  const start = lines.findIndex((line) => /^\s*\[/.test(line))
  for (const line of start < 0 ? lines : lines.slice(0, start)) {
    if (line.trim() === '') continue
    const [name, domain] = line.trim().split(/\s+/)
    if (line.trimStart().startsWith('#')) comments.push(line)
    else {
      const number = Number.parseInt(domain ?? '', 10)
      const order = agents.length
      agents.push({ name: name!, domain: Number.isNaN(number) ? 0 : number, text: line, order })
    }
  }
  const access = start < 0 ? '' : lines.slice(start).join('\n')
  return { comments, agents, access: access === '' || access.endsWith('\n') ? access : `${access}\n` }
}
