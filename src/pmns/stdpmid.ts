/** stdpmid: the symbols of agents' domain numbers, made of registers of them. docs/formats/pmns.md §8 */

/** A register: lines of `NAME number`. */
export interface DomainRegister {
  /** As messages name it. */
  readonly file: string
  readonly text: string
}

/** The file made of registers, and what is wrong with them. */
export interface Stdpmid {
  /** Always something the preprocessor accepts: what would break it is left out. */
  readonly text: string
  /** Mistakes, in the words of PCP where it knows them: one or more lines each, without the command's name. */
  readonly errors: readonly string[]
  /** Numbers that another agent may come to have. */
  readonly warnings: readonly string[]
}

/** The highest domain that agents distributed with PCP get. */
const PCP_MAX = 384
/** The highest domain an agent can have. */
const DOMAIN_MAX = 510
/** Dynamic roots and derived metrics have this one; its name in the register of PCP only says so. */
const RESERVED = 511
const PCP_REGISTER = /\.pcp$/

const HEADER = `/*
 * Domain numbers of agents, for the name space files that include this one.
 * Made by Make.stdpmid of the files stdpmid.* beside it: change those, stdpmid.local for agents of
 * this site, and run Make.stdpmid again.
 *
 * 0 is no domain. Agents distributed with PCP have 1 to ${PCP_MAX}, agents of a site ${PCP_MAX + 1} to ${DOMAIN_MAX}, best
 * counted from the end. ${RESERVED} is what dynamic subtrees and derived metrics have.
 */

#ifndef __STDPMID
#define __STDPMID

`

interface Row {
  readonly name: string
  readonly domain: number
  /** Where it stands: the file and the line. */
  readonly place: string
  readonly isPcp: boolean
}

/** Makes the text of stdpmid. The same line in two registers is no mistake. */
export function makeStdpmid(registers: readonly DomainRegister[]): Stdpmid {
  const errors: string[] = []
  const warnings: string[] = []
  const rows = registers.flatMap((register) => readRegister(register, errors))
  // PCP's own register decides what a name means, whichever file was read first.
  const byName = new Map<string, Row>()
  for (const row of [...rows.filter(({ isPcp }) => isPcp), ...rows.filter(({ isPcp }) => !isPcp)]) {
    if (!byName.has(row.name)) byName.set(row.name, row)
  }
  errors.push(
    ...duplicates(
      rows,
      'name',
      ({ name }) => name,
      ({ domain }) => domain,
    ),
  )
  const kept = [...byName.values()]
  for (const { domain, place, isPcp } of kept)
    if (!isPcp && domain <= PCP_MAX)
      warnings.push(`domain number "${domain}" is for agents distributed with PCP ...\n    ${place}`)
  errors.push(
    ...duplicates(
      kept,
      'number',
      ({ domain }) => domain,
      ({ name }) => name,
    ),
  )
  kept.sort((a, b) => a.domain - b.domain || (a.name < b.name ? -1 : 1))
  const lines = kept.map(({ name, domain }) => `#define ${name}\t${domain}\n`)
  return { text: `${HEADER}${lines.join('')}\n#endif\n`, errors, warnings }
}

const ROW = /^[ \t]*([^\s#]\S*)(?:[ \t]+(\S+))?/
const SYMBOL = /^[A-Za-z_]\w*$/

function readRegister({ file, text }: DomainRegister, errors: string[]): Row[] {
  const rows: Row[] = []
  const isPcp = PCP_REGISTER.test(file)
  for (const line of text.split('\n')) {
    const found = ROW.exec(line)
    if (found === null) continue
    const [, name = '', number = ''] = found
    const place = `${file}:${line}`
    const domain = Number(number)
    const problem = problemOf(name, number, isPcp)
    if (problem !== undefined) errors.push(`${problem} ...\n    ${place}`)
    else rows.push({ name, domain, place, isPcp })
  }
  return rows
}

function problemOf(name: string, number: string, isPcp: boolean): string | undefined {
  if (!SYMBOL.test(name)) return `domain name "${name}" is no symbol`
  const domain = Number(number)
  if (!/^\d+$/.test(number)) return `domain number "${number}" is no number`
  if (domain >= 1 && domain <= DOMAIN_MAX) return undefined
  return domain === RESERVED && isPcp ? undefined : `domain number "${number}" is not in 1 to ${DOMAIN_MAX}`
}

/** One message for each key that rows with different other halves share. */
function duplicates<K, V>(
  rows: readonly Row[],
  what: string,
  keyOf: (row: Row) => K,
  otherOf: (row: Row) => V,
): string[] {
  const groups = new Map<K, Row[]>()
  for (const row of rows) {
    const group = groups.get(keyOf(row))
    if (group === undefined) groups.set(keyOf(row), [row])
    else group.push(row)
  }
  return [...groups]
    .filter(([, group]) => new Set(group.map(otherOf)).size > 1)
    .map(
      ([key, group]) =>
        `duplicate for domain ${what} "${key}" ...\n${group.map(({ place }) => `    ${place}`).join('\n')}`,
    )
}
