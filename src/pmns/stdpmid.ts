/** Generates stdpmid, the symbols of agents' domain numbers, from registers. docs/formats/pmns.md §8 */

/** A register: lines of `NAME number`. */
export interface DomainRegister {
  /** Name in messages. */
  readonly file: string
  readonly text: string
}

/** The generated file, and errors in the registers. */
export interface Stdpmid {
  /** Always valid for the preprocessor: lines that would break it are omitted. */
  readonly text: string
  /** Errors, in PCP's words if PCP has them: one or more lines each, without the command's name. */
  readonly errors: readonly string[]
  /** Numbers that other agents may get in future. */
  readonly warnings: readonly string[]
}

/** Highest domain of agents distributed with PCP. */
const PCP_MAX = 384
/** Highest domain of an agent. */
const DOMAIN_MAX = 510
/** Domain of dynamic roots and derived metrics; PCP's register has an entry for it as a reminder. */
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
  /** Position: file and line. */
  readonly place: string
  readonly isPcp: boolean
}

/** Generates stdpmid. Equal lines in two registers are not an error. */
export function makeStdpmid(registers: readonly DomainRegister[]): Stdpmid {
  const errors: string[] = []
  const warnings: string[] = []
  const rows = registers.flatMap((register) => readRegister(register, errors))
  // PCP's own register takes precedence, regardless of the order.
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
  if (!SYMBOL.test(name)) return `domain name "${name}" is not a symbol`
  const domain = Number(number)
  if (!/^\d+$/.test(number)) return `domain number "${number}" is not a number`
  if (domain >= 1 && domain <= DOMAIN_MAX) return undefined
  return domain === RESERVED && isPcp ? undefined : `domain number "${number}" is not in 1 to ${DOMAIN_MAX}`
}

/** Returns a message for each key shared by rows that differ otherwise. */
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
