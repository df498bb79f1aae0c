/** Chooses the highest free domain number for a new agent. docs/formats/pmns.md §8 */
import { PcpError } from '../../model/errors.ts'
import type { DomainRegister } from '../../pmns/stdpmid.ts'

/** Range of domains for agents of a site; agents that come with PCP have lower ones. */
const FIRST = 385
const LAST = 510

/** Domains in use. */
export interface Domains {
  /** Registers in a name space directory. */
  readonly registers: readonly DomainRegister[]
  /** Text of pmcd.conf, which may have unregistered agents. */
  readonly conf: string
}

/** Returns the registered domain of a symbol, if any. */
export function registeredDomain(symbol: string, { registers }: Domains): number | undefined {
  for (const { text } of registers)
    for (const [name, domain] of rowsOf(text)) if (name === symbol) return domain
  return undefined
}

/** Returns the highest free domain. Throws PM_ERR_TOOBIG if none is left. */
export function freeDomain({ registers, conf }: Domains): number {
  const taken = new Set(registers.flatMap(({ text }) => rowsOf(text).map(([, domain]) => domain)))
  for (const line of conf.split('\n')) {
    const domain = /^\s*[^#\s]\S*\s+(\d+)\s/.exec(line)?.[1]
    if (domain !== undefined) taken.add(Number(domain))
  }
  for (let domain = LAST; domain >= FIRST; domain--) if (!taken.has(domain)) return domain
  throw new PcpError(
    'PM_ERR_TOOBIG',
    `Every domain from ${FIRST} to ${LAST} is in use: remove one from stdpmid.local`,
  )
}

function rowsOf(text: string): readonly (readonly [symbol: string, domain: number])[] {
  return text.split('\n').flatMap((line) => {
    const match = /^\s*([A-Za-z]\w*)\s+(\d+)\b/.exec(line)
    return match === null ? [] : [[match[1]!, Number(match[2])] as const]
  })
}
