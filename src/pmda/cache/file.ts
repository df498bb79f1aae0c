/** Reads and writes the file of an instance cache. docs/formats/instance-cache.md */
import { PcpError } from '../../model/errors.ts'

/** Highest instance identifier. */
export const MAX_INST = 0x7fffffff

/** An instance in a saved file. */
export interface SavedInstance {
  readonly id: number
  /** Seconds since the epoch of the last save after it was active; 0 is replaced by the time of the next save. */
  readonly stamp: number
  /** Bytes of its key, one per character; undefined for an instance without a key. */
  readonly key: string | undefined
  readonly name: string
}

/** Contents of a saved file. */
export interface SavedCache {
  /** Identifiers of new instances fill gaps. */
  readonly reuses: boolean
  readonly maximum: number
  readonly instances: readonly SavedInstance[]
}

/** Formats a file of version 2. `now` replaces stamps of 0. */
export function formatCache({ reuses, maximum, instances }: SavedCache, now: number): string {
  let text = `2 ${reuses ? 1 : 0} ${maximum}\n`
  for (const { id, stamp, key, name } of instances) {
    // A name that would be parsed as "[key] name" is written with its own bytes as the key.
    const shown = key ?? (name.startsWith('[') && KEYED.test(name) ? name : undefined)
    text += `${id} ${stamp || now} ${shown === undefined ? '' : `[${toHex(shown)}] `}${name}\n`
  }
  return text
}

/** Parses a file of version 1 or 2. PM_ERR_GENERIC names the file and the wrong line. */
export function parseCache(text: string, file: string): SavedCache {
  const lines = text.split('\n')
  if (lines.at(-1) === '') lines.pop()
  const wrong = (at: number, why: string): PcpError =>
    new PcpError('PM_ERR_GENERIC', `${file}:${at + 1}: ${why}: mend or remove the file`)
  const header = /^(?:1 ([01])|2 ([01]) (\d{1,10}))$/.exec(lines[0] ?? '')
  if (header === null) throw wrong(0, 'no header of version 1 or 2')
  const instances: SavedInstance[] = []
  for (let at = 1; at < lines.length; at++) {
    const [, id = '', stamp = '', rest = ''] = /^(\d{1,10}) (\d{1,15}) (.*)$/s.exec(lines[at]!) ?? []
    if (id === '' || Number(id) > MAX_INST) throw wrong(at, 'no number, time and name of an instance')
    const [start, hex] = KEYED.exec(rest) ?? ['', undefined]
    instances.push({
      id: Number(id),
      stamp: Number(stamp),
      key: hex === undefined ? undefined : fromHex(hex),
      name: rest.slice(start.length),
    })
  }
  const maximum = Math.min(Number(header[3] ?? MAX_INST), MAX_INST)
  return { reuses: (header[1] ?? header[2]) === '1', maximum, instances }
}

const KEYED = /^\[((?:[0-9a-f]{2})+)\] /

function toHex(key: string): string {
  let hex = ''
  for (let i = 0; i < key.length; i++) hex += key.charCodeAt(i).toString(16).padStart(2, '0')
  return hex
}

function fromHex(hex: string): string {
  let key = ''
  for (let i = 0; i < hex.length; i += 2) key += String.fromCharCode(Number.parseInt(hex.slice(i, i + 2), 16))
  return key
}
