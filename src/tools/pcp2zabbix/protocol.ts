/** The protocol of Zabbix's trapper: a header with the length, and JSON. */
import { PcpError } from '../../model/errors.ts'

/** A value of an item. */
export interface ZabbixItem {
  readonly host: string
  readonly key: string
  readonly value: string
  /** Seconds since the epoch. */
  readonly clock: number
}

const HEADER_BYTES = 13
const MAGIC = 'ZBXD\x01'

/** Frames a request with values. */
export function senderRequest(data: readonly ZabbixItem[]): Uint8Array {
  const body = Buffer.from(JSON.stringify({ request: 'sender data', data }))
  const header = Buffer.alloc(HEADER_BYTES)
  header.write(MAGIC, 'latin1')
  header.writeBigUInt64LE(BigInt(body.length), MAGIC.length)
  return Buffer.concat([header, body])
}

/** Returns the number of values that the server refused, for lack of a host or item. Throws PM_ERR_GENERIC for another answer than success. */
export function refusedItems(answer: Uint8Array): number {
  const bytes = Buffer.from(answer)
  const text = bytes.subarray(HEADER_BYTES).toString()
  if (bytes.length < HEADER_BYTES || bytes.toString('latin1', 0, MAGIC.length) !== MAGIC)
    throw new PcpError('PM_ERR_GENERIC', 'the server did not answer as Zabbix does')
  const { response, info } = fieldsOf(text)
  if (response !== 'success')
    throw new PcpError('PM_ERR_GENERIC', `the Zabbix server refused the values: ${info ?? response ?? text}`)
  return Number(/failed: (\d+)/.exec(info ?? '')?.[1] ?? 0)
}

function fieldsOf(text: string): { readonly response?: string; readonly info?: string } {
  try {
    const answer: unknown = JSON.parse(text)
    return typeof answer === 'object' && answer !== null ? answer : {}
  } catch {
    return {}
  }
}

/** Returns an item's key; an instance is its parameter, quoted where the syntax of keys demands it. */
export function itemKey(name: string, instance?: string): string {
  if (instance === undefined) return name
  const isPlain = !/^[ "[]|[,\]]/.test(instance)
  return `${name}[${isPlain ? instance : `"${instance.replaceAll('"', '\\"')}"`}]`
}

/** Returns the value that lists a metric's instances for low-level discovery. `name` has the prefix. */
export function discoveryValue(name: string, instances: readonly string[]): string {
  const macro = `{#${name.toUpperCase()}}`
  return JSON.stringify({ data: [...instances].sort().map((instance) => ({ [macro]: instance })) })
}
