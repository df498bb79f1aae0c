/** Names and labels by identifier, as the maps of a key server have them. They never change, so those that were read are kept. */
import { PcpError } from '../../model/errors.ts'
import type { KeyClient } from './client.ts'
import { ErrorReply, type Reply } from './replies.ts'
import { type MapName, mapKey } from './schema.ts'

/** Length of an identifier. */
export const ID_BYTES = 20
/** Fields that a step of a scan returns, about. */
const STEP = 1000
/** The most names of a map. */
const MOST_NAMES = 1_000_000
/** The most texts that are kept. */
const MOST_KEPT = 100_000

/** Reads maps. */
export class KeyMaps {
  readonly #client: KeyClient
  readonly #texts = new Map<string, string>()

  constructor(client: KeyClient) {
    this.#client = client
  }

  /** Returns all texts of a map. E2BIG if there are too many. */
  async all(map: MapName): Promise<readonly string[]> {
    const texts = new Set<string>()
    let cursor = '0'
    do {
      const reply = await this.#client.call('HSCAN', mapKey(map), cursor, 'COUNT', STEP)
      const [next, fields] = listOf(reply)
      cursor = String(next ?? '0')
      listOf(fields).forEach((each, i) => {
        if (i % 2 === 1) texts.add(String(each))
      })
      if (texts.size > MOST_NAMES)
        throw new PcpError(
          'E2BIG',
          `Key server ${this.#client.name} has more than ${MOST_NAMES} names of one kind; select by name instead`,
        )
    } while (cursor !== '0')
    return [...texts]
  }

  /** Returns the texts of identifiers, which are bytes; undefined for those without. */
  async texts(map: MapName, ids: readonly Buffer[]): Promise<readonly (string | undefined)[]> {
    const texts = ids.map((id) => this.#texts.get(`${map} ${id.toString('hex')}`))
    const missing = ids.filter((_, i) => texts[i] === undefined)
    if (missing.length === 0) return texts
    const replies = listOf(await this.#client.call('HMGET', mapKey(map), ...missing))
    if (this.#texts.size + missing.length > MOST_KEPT) this.#texts.clear()
    let next = 0
    return texts.map((known, i) => {
      if (known !== undefined) return known
      const reply = replies[next++]
      if (!Buffer.isBuffer(reply)) return undefined
      const text = reply.toString()
      this.#texts.set(`${map} ${ids[i]!.toString('hex')}`, text)
      return text
    })
  }
}

/** Returns a reply as list; nothing for any other reply. */
export function listOf(reply: Reply | undefined): readonly Reply[] {
  return Array.isArray(reply) ? (reply as readonly Reply[]) : []
}

/** Returns the fields of a hash by name; empty without one. */
export function fieldsOf(reply: Reply | undefined): ReadonlyMap<string, Buffer> {
  const list = listOf(reply)
  const fields = new Map<string, Buffer>()
  for (let i = 0; i + 1 < list.length; i += 2) {
    const value = list[i + 1]
    if (Buffer.isBuffer(value)) fields.set(String(list[i]), value)
  }
  return fields
}

/** Returns the members of a set or fields of a hash that are identifiers, as bytes. */
export function idsOf(reply: Reply | undefined): readonly Buffer[] {
  return listOf(reply).filter((each): each is Buffer => Buffer.isBuffer(each) && each.length === ID_BYTES)
}

/** Throws the first of the replies that is an error. */
export function withoutErrors(client: KeyClient, replies: readonly Reply[]): readonly Reply[] {
  for (const reply of replies) if (reply instanceof ErrorReply) throw client.replyError(reply)
  return replies
}
