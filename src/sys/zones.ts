/** Zone files and the zone of this process. tzset(3), localtime(5) */
import { readFileSync, readlinkSync } from 'node:fs'
import { isAbsolute, join } from 'node:path'
import type { Variables } from './config.ts'

/** What the zone of a process is made of: hand both to `makeZone`. */
export interface ZoneSource {
  /** `$TZ` as it is, or `:Area/City` where /etc/localtime points to a zone file. */
  readonly name: string
  /** The zone file, when there is one. */
  readonly bytes: Uint8Array | undefined
}

const LOCALTIME = '/etc/localtime'

/** The bytes of a zone file by name (`Australia/Melbourne`); undefined when there is none. `TZDIR` says where they are. */
export function readZoneFile(name: string, env: Variables = process.env): Uint8Array | undefined {
  if (name === '' || isAbsolute(name) || name.split('/').includes('..')) return undefined
  return read(join(zoneDir(env), name))
}

/** The zone of this process: `$TZ`, else what /etc/localtime says. */
export function processZone(env: Variables = process.env): ZoneSource {
  const name = env['TZ']
  if (name === undefined) return { name: localtimeName(env), bytes: read(LOCALTIME) }
  const file = name.replace(/^:/, '')
  // One's own environment may name any file.
  return { name, bytes: isAbsolute(file) ? read(file) : readZoneFile(file, env) }
}

function zoneDir(env: Variables): string {
  return env['TZDIR'] || '/usr/share/zoneinfo'
}

function localtimeName(env: Variables): string {
  try {
    const target = readlinkSync(LOCALTIME)
    const at = target.lastIndexOf('zoneinfo/')
    if (at !== -1) return `:${target.slice(at + 'zoneinfo/'.length)}`
    return target.startsWith(zoneDir(env)) ? `:${target.slice(zoneDir(env).length + 1)}` : LOCALTIME
  } catch {
    return LOCALTIME // a copy instead of a link, or nothing at all: then it is UTC
  }
}

function read(path: string): Uint8Array | undefined {
  try {
    return readFileSync(path)
  } catch {
    return undefined // no such zone: whoever asked falls back to UTC, as the C library does
  }
}
