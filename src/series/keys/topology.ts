/** The servers of a cluster and their parts of the keys, as CLUSTER SLOTS lists them. */
import { type KeyServer, keyServerText } from './address.ts'
import type { Reply } from './replies.ts'
import { SLOTS } from './slots.ts'

/** A range of slots and the server that has it. */
export interface SlotRange {
  readonly first: number
  readonly last: number
  readonly server: KeyServer
}

/**
 * Returns the ranges of a reply to CLUSTER SLOTS; none if the server is not part of a cluster. `asked` is the server that replied: it may
 * not know its own address.
 */
export function slotRanges(reply: Reply, asked: KeyServer): readonly SlotRange[] {
  if (!Array.isArray(reply)) return []
  return (reply as readonly Reply[]).flatMap((each) => {
    if (!Array.isArray(each)) return []
    const [first, last, main] = each as readonly Reply[]
    if (!isSlot(first) || !isSlot(last) || !Array.isArray(main)) return []
    const [host, port] = main as readonly Reply[]
    if (typeof port !== 'number') return []
    const name = Buffer.isBuffer(host) ? host.toString() : ''
    return [{ first, last, server: { host: name === '' || name === '?' ? asked.host : name, port } }]
  })
}

function isSlot(value: Reply | undefined): value is number {
  return typeof value === 'number' && value >= 0 && value < SLOTS
}

/** Returns the slot and the server of the errors MOVED and ASK: `MOVED 3999 127.0.0.1:6381`. */
export function redirection(
  message: string,
  asked: KeyServer,
): { slot: number; server: KeyServer } | undefined {
  const [, slot, host, port] = /^(?:MOVED|ASK) (\d+) (.*):(\d+)$/.exec(message) ?? []
  const server = { host: host || asked.host, port: Number(port) }
  return isSlot(Number(slot)) && server.port > 0 ? { slot: Number(slot), server } : undefined
}

/** Identifies a server. */
export const serverKey: (server: KeyServer) => string = keyServerText
