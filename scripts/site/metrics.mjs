/** The metrics of each agent, from its tables: a page an agent, or a page a root name for agents with many metrics. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { loadSources } from '../lib/load-sources.mjs'
import { plain, ROWS } from './markdown.mjs'

const CONTENTS = `
import { AGENTS } from './agents/registry.ts'
import { pmcdAgent } from './agents/pmcd/index.ts'
import { openAgent, tablesOf } from './pmda/open-agent.ts'
const definitions = async () => [
  ...(await Promise.all(AGENTS.map(async (row) => ({ ...row, definition: await row.load() })))),
  // Its tables need no collector, only its values do.
  { name: 'pmcd', domain: 2, definition: pmcdAgent({}) },
].sort((a, b) => (a.name < b.name ? -1 : 1))
export async function agentTables(root, env) {
  const agents = []
  for (const { definition, ...row } of await definitions()) {
    const agent = openAgent(definition, { root, env })
    agents.push({ ...row, tables: tablesOf(agent) })
    await agent.close()
  }
  return agents
}
`
/** Agents with more metrics than this have a page for each root name. */
const MOST_ON_A_PAGE = 250
const FOLDER = 'reference/metrics'

/** Pages of all agents and their list, by path. */
export async function metricPages() {
  const dir = mkdtempSync(join(tmpdir(), 'pcp-ts-metrics-'))
  try {
    // In an empty file system, so that pages do not depend on this machine.
    const env = Object.fromEntries(
      [
        'PCP_TMP_DIR',
        'PCP_RUN_DIR',
        'PCP_VAR_DIR',
        'PCP_ETC_DIR',
        'PCP_SYSCONF_DIR',
        'PCP_PMDAS_DIR',
        'PCP_LOG_DIR',
      ].map((name) => [name, dir]),
    )
    const { agentTables } = await loadSources(CONTENTS)
    const agents = (await agentTables(dir, env)).map((agent) => ({
      ...agent,
      metrics: rowsOf(agent.tables.metrics),
    }))
    return [[`${FOLDER}/index`, listOf(agents)], ...agents.flatMap(pagesOf)]
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}

/** Metrics by name; aliases with the row of the metric that they name, if it is one of the table. */
function rowsOf(table) {
  return Object.entries(table)
    .map(([name, row]) =>
      'alias' in row ? { name, alias: row.alias, ...table[row.alias] } : { name, ...row },
    )
    .sort((a, b) => (a.name < b.name ? -1 : 1))
}

function listOf(agents) {
  const rows = agents.map(
    ({ name, domain, platform, isDemonstration, isOutgoing, metrics }) =>
      `| [${name}](${pathOf(name, metrics)}) | ${domain} | ${metrics.length} | ${[
        platform === 'linux' ? 'Linux only' : '',
        isDemonstration ? 'for tests and examples; runs if it is named' : '',
        isOutgoing ? 'runs if it is named' : '',
      ]
        .filter(Boolean)
        .join('; ')} |`,
  )
  return `# Metrics

Generated from the tables of the agents: the metrics that an agent always has. Agents such as mmv, node, openmetrics and otel add those of
their applications. \`pminfo -dtT NAME\` prints the same for any metric of a running collector.

| Agent | Domain | Metrics | |
|---|---|---|---|
${rows.join('\n')}
`
}

const pathOf = (agent, metrics) => (metrics.length > MOST_ON_A_PAGE ? `${agent}/index.md` : `${agent}.md`)

function pagesOf({ name, metrics, tables }) {
  const dynamic = tables.dynamicRoots ?? []
  const note =
    dynamic.length === 0
      ? ''
      : `\nNames below ${dynamic.map((root) => `\`${root}\``).join(', ')} come and go while the agent runs.\n`
  if (metrics.length <= MOST_ON_A_PAGE)
    return [[`${FOLDER}/${name}`, `${ROWS}# Metrics of ${name}\n${note}\n${groups(metrics, 2)}`]]
  const roots = groupBy(metrics, (metric) => metric.name.split('.')[0])
  const list = [...roots].map(([root, rows]) => `| [${root}](${root}.md) | ${rows.length} |`)
  return [
    [
      `${FOLDER}/${name}/index`,
      `# Metrics of ${name}\n${note}\n| Name | Metrics |\n|---|---|\n${list.join('\n')}\n`,
    ],
    ...[...roots].map(([root, rows]) => [
      `${FOLDER}/${name}/${root}`,
      `${ROWS}# Metrics of ${name}: ${root}\n\n${groups(rows, 2)}`,
    ]),
  ]
}

/** Tables of metrics below headings: the parts of their names but for the last, at most `depth` of them. */
function groups(metrics, depth) {
  const byPrefix = groupBy(
    metrics,
    ({ name }) => name.split('.').slice(0, -1).slice(0, depth).join('.') || name,
  )
  return [...byPrefix]
    .map(([prefix, rows]) => `## ${prefix}\n\n| Metric | Help |\n|---|---|\n${rows.map(rowOf).join('\n')}\n`)
    .join('\n')
}

function rowOf({ name, alias, type, sem, units, indom, help, text, texts, isControl, store }) {
  const code = `\`${name}\``
  if (type === undefined) return `| ${code} | another name of ${plain(String(alias))} |`
  const value = [
    `${type}, ${sem}`,
    units === 'none' ? '' : units,
    indom === undefined ? '' : `instances: ${indom.texts?.oneline ?? indom.help}`,
    isControl ? 'root may store' : store === undefined ? '' : 'may be stored',
  ]
  const line = texts?.oneline ?? help ?? ''
  const long = texts?.help ?? text
  const words = [
    alias === undefined ? '' : `Another name of ${alias}.`,
    `**${plain(line)}**`,
    ...(long === undefined || long.trim() === line.trim()
      ? []
      : long
          .trim()
          .split(/\n\s*\n/)
          .map(plain)),
  ]
  return `| ${[code, ...value.filter(Boolean).map(plain)].join('<br>')} | ${words.filter(Boolean).join('<br>')} |`
}

function groupBy(items, keyOf) {
  const groups = new Map()
  for (const item of items) {
    const key = keyOf(item)
    groups.set(key, [...(groups.get(key) ?? []), item])
  }
  return groups
}
