/** Tables in a collector's log: agents, access rules, ports, clients. pmcd(1) */

import { OP_FETCH, OP_STORE } from '../net/access/statements.ts'
import type { AccessRule, AccessTable } from '../net/access/table.ts'
import type { Endpoint } from '../net/listen.ts'
import type { AgentSlot } from '../routing/agent-slot.ts'
import type { Client } from './client.ts'

const PROTOCOLS = { dso: 'dso', worker: 'dso worker', pipe: 'bin pipe', socket: 'bin sock' } as const

/** Lists the connected agents. */
export function agentTable(slots: readonly AgentSlot[]): string {
  const lines = [
    '',
    'active agent dom   pid  in out ver protocol parameters',
    '============ === ===== === === === ======== ==========',
  ]
  for (const slot of slots) {
    if (slot.state === 'failed') continue
    const { name, domain, kind, parameters } = slot.options
    const pid = slot.pid === undefined ? '' : String(slot.pid)
    const protocol = PROTOCOLS[kind]
    const fds = (slot.fds ?? ['', '']).map((fd) => String(fd).padStart(3)).join(' ')
    const place = `${name.padEnd(12)} ${String(domain).padStart(3)} ${pid.padStart(5)}`
    lines.push(`${place} ${fds}   2 ${protocol} ${parameters}`)
  }
  lines.push('')
  return lines.join('\n')
}

/** Lists host, user and group rules, or reports that there are none. */
export function accessTables(table: AccessTable): string {
  const parts = (['host', 'user', 'group'] as const).map((subject) => {
    const title = `${subject[0]!.toUpperCase()}${subject.slice(1)}`
    const rules = table.rules(subject)
    if (rules.length === 0)
      return subject !== 'host' && table.hasRulesFor(subject)
        ? `${title} access list empty: no ${subject} of its statements is known, so everybody is refused`
        : `${title} access list empty: ${subject}-based access control turned off`
    const rows = rules.map(({ rule, current }) => accessRow(rule, current))
    return [
      `${title} access list:`,
      '00 01 Cur/MaxCons lvl name',
      '== == =========== === ====',
      ...rows,
    ].join('\n')
  })
  return `${parts.join('\n')}\n`
}

function accessRow(rule: AccessRule, current: number): string {
  const flag = (operation: number): string =>
    (rule.specified & operation) === 0 ? '  ' : (rule.denied & operation) === 0 ? ' y' : ' n'
  const limit = rule.maxConnections ?? 0
  const count = `${String(current).padStart(5)} ${limit === Number.POSITIVE_INFINITY ? '    0' : String(limit).padStart(5)}`
  return `${flag(OP_FETCH)} ${flag(OP_STORE)} ${count} ${String(rule.generality).padStart(3)} ${rule.spec}`
}

/** Lists the ports. */
export function portTable(endpoints: readonly Endpoint[]): string {
  const lines = [
    'pmcd request port(s):',
    '  sts fd   port  family address',
    '  === ==== ===== ====== =======',
  ]
  for (const { family, address, port, fd, error } of endpoints) {
    const number = family === 'unix' ? '' : String(port)
    const status = error === undefined ? 'ok ' : 'err'
    lines.push(`  ${status} ${String(fd).padStart(4)} ${number.padStart(5)} ${family.padEnd(6)} ${address}`)
  }
  return lines.join('\n')
}

/** Lists the clients, below a heading. */
export function clientTable(clients: Iterable<Client>, heading: string): string {
  const lines = [
    heading,
    '     fd  client connection from                    ipc ver  operations denied',
    '     ==  ========================================  =======  =================',
  ]
  for (const client of clients) {
    const { fd, address } = client.identity
    const denied = [
      (client.denied & OP_FETCH) === 0 ? '' : 'fetch ',
      (client.denied & OP_STORE) === 0 ? '' : 'store ',
    ]
    lines.push(`    ${String(fd).padStart(3)}  ${address.padEnd(40)}        2  ${denied.join('')}`.trimEnd())
  }
  return lines.join('\n')
}
