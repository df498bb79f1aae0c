/** Compares an open agent with a catalogue of metrics: JSON rows of name, PMID, type, semantics, units and indom. */
import { readFileSync } from 'node:fs'
import { expect } from 'vitest'
import type { OrderedRow } from '../../src/agents/lib/name-order.ts'
import { isError } from '../../src/model/errors.ts'
import { indomStr, PM_INDOM_NULL, pmidStr } from '../../src/model/ids.ts'
import { ANONYMOUS, type Ask } from '../../src/model/source.ts'
import { semStr, typeStr } from '../../src/model/types.ts'
import { unitsStr } from '../../src/model/units.ts'
import type { AliasSpec } from '../../src/pmda/define.ts'
import { type AgentSource, tablesOf } from '../../src/pmda/open-agent.ts'

/** A request of an anonymous client. */
export const ASK: Ask = { requester: ANONYMOUS }
/** A request of root, who may store to controls. */
export const ROOT_ASK: Ask = { requester: { ...ANONYMOUS, credentials: { uid: 0 } } }

/** A row of a catalogue; other fields are not compared. */
export interface CatalogueRow {
  readonly name: string
  readonly pmid: string
  readonly type: string
  readonly sem: string
  readonly units: string
  readonly indom: string | null
}

/** Reads test/vectors/metrics/NAME.json. */
export function readCatalogue(name: string): CatalogueRow[] {
  return JSON.parse(readFileSync(new URL(`../vectors/metrics/${name}.json`, import.meta.url), 'utf8'))
}

/** Returns the agent's metrics as catalogue rows, by name. */
export async function catalogueOf(agent: AgentSource): Promise<CatalogueRow[]> {
  const names = [...agent.names()]
  const descs = await agent.descs(
    names.map(([, id]) => id),
    ASK,
  )
  return names
    .map(([name, id], i) => {
      const desc = descs[i]!
      if (isError(desc)) throw desc
      return {
        name,
        pmid: pmidStr(id),
        type: typeStr(desc.type).toLowerCase(),
        sem: semStr(desc.sem),
        units: unitsStr(desc.units) || 'none',
        indom: desc.indom === PM_INDOM_NULL ? null : indomStr(desc.indom),
      }
    })
    .sort(byName)
}

/** Compares each metric with its row in the catalogue, except rows with `isAddition`. Prints how many were compared. */
export async function assertCatalogue(agent: AgentSource, catalogue: readonly CatalogueRow[]): Promise<void> {
  const added = additionsOf(agent)
  const has = (await catalogueOf(agent)).filter(({ name }) => !added.has(name))
  const expected = catalogue
    .map(({ name, pmid, type, sem, units, indom }) => ({ name, pmid, type, sem, units, indom }))
    .sort(byName)
  const known = new Set(expected.map(({ name }) => name))
  expect(
    has.filter(({ name }) => !known.has(name)),
    'not metrics of PCP: set isAddition: true in their rows',
  ).toEqual([])
  console.log(`${agent.agent}: ${has.length} metrics compared, ${catalogue.length} in the catalogue`)
  expect(has).toEqual(expected)
}

/** Compares the order of the agent's names with the catalogue's, which is that of PCP's name space. */
export function assertNameOrder(agent: AgentSource, catalogue: readonly CatalogueRow[]): void {
  const added = additionsOf(agent)
  const ours = [...agent.names()].map(([name]) => name).filter((name) => !added.has(name))
  expect(ours).toEqual(catalogue.map(({ name }) => name).filter((name) => ours.includes(name)))
}

/** Returns the names of metrics that PCP's agent of the same name lacks. */
function additionsOf(agent: AgentSource): ReadonlySet<string> {
  const isAddition = (row: Partial<OrderedRow> | AliasSpec): boolean => 'isAddition' in row
  const rows = Object.entries(tablesOf(agent)?.metrics ?? {})
  return new Set(rows.filter(([, row]) => isAddition(row)).map(([name]) => name))
}

/** Checks that every metric and instance domain has a line of help that adds to its name. */
export async function assertHelp(agent: AgentSource): Promise<void> {
  const poor: string[] = []
  const indoms = new Set<number>()
  for (const [name, id] of agent.names()) {
    const line = await agent.text({ kind: 'metric', id, level: 'oneline' }, ASK)
    const help = await agent.text({ kind: 'metric', id, level: 'help' }, ASK)
    if (repeats(name, line) || help.trim() === '' || line.includes('\n')) poor.push(`${name}: ${line}`)
    const [desc] = await agent.descs([id], ASK)
    if (desc !== undefined && !isError(desc) && desc.indom !== PM_INDOM_NULL) indoms.add(desc.indom)
  }
  for (const id of indoms) {
    const line = await agent.text({ kind: 'indom', id, level: 'oneline' }, ASK)
    if (line.trim() === '' || line.includes('\n')) poor.push(`${indomStr(id)}: ${line}`)
  }
  expect(poor).toEqual([])
}

/** Returns whether a line only repeats words of the name, ignoring small words and plurals. */
function repeats(name: string, line: string): boolean {
  const known = new Set(words(name))
  return words(line).every((word) => known.has(word) || SMALL.has(word))
}

const SMALL = new Set([
  'a',
  'an',
  'the',
  'of',
  'in',
  'for',
  'to',
  'and',
  'or',
  'per',
  'by',
  'is',
  'number',
  'metric',
  'value',
])

function words(text: string): string[] {
  return text
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== '')
    .map((word) => word.replace(/s$/, ''))
}

function byName(a: CatalogueRow, b: CatalogueRow): number {
  return a.name < b.name ? -1 : 1
}
