/** A domain number for an agent of this site: the highest that nobody has. docs/formats/pmns.md §8 */
import { PcpError } from '../../model/errors.ts'
import type { DomainRegister } from '../../pmns/stdpmid.ts'

/** Agents of a site have these; those that come with PCP have lower ones. */
const FIRST = 385
const LAST = 510

/** What is taken, and by whom. */
export interface Domains {
  /** Registers of a name space directory. */
  readonly registers: readonly DomainRegister[]
  /** The text of pmcd.conf: agents that nobody registered. */
  readonly conf: string
}

/** The number that a symbol has in the registers; undefined for none. */
export function registeredDomain(symbol: string, { registers }: Domains): number | undefined {
  for (const { text } of registers)
    for (const [name, domain] of rowsOf(text)) if (name === symbol) return domain
  return undefined
}

/** The highest free number. PM_ERR_TOOBIG when none is left. */
export function freeDomain({ registers, conf }: Domains): number {
  const taken = new Set(registers.flatMap(({ text }) => rowsOf(text).map(([, domain]) => domain)))
  for (const line of conf.split('\n')) {
    const domain = /^\s*[^#\s]\S*\s+(\d+)\s/.exec(line)?.[1]
    if (domain !== undefined) taken.add(Number(domain))
  }
  for (let domain = LAST; domain >= FIRST; domain--) if (!taken.has(domain)) return domain
  throw new PcpError(
    'PM_ERR_TOOBIG',
    `Every domain from ${FIRST} to ${LAST} is taken: free one in stdpmid.local`,
  )
}

function rowsOf(text: string): readonly (readonly [symbol: string, domain: number])[] {
  return text.split('\n').flatMap((line) => {
    const match = /^\s*([A-Za-z]\w*)\s+(\d+)\b/.exec(line)
    return match === null ? [] : [[match[1]!, Number(match[2])] as const]
  })
}
