/** Zone files, and the time zone of this process. tzset(3), localtime(5) */
import { readFileSync, readlinkSync } from 'node:fs'
import { isAbsolute, join } from 'node:path'
import type { Variables } from './config.ts'

/** Arguments of `makeZone` for the time zone of a process. */
export interface ZoneSource {
  /** The literal `$TZ`, or `:Area/City` if /etc/localtime links to a zone file. */
  readonly name: string
  /** Content of the zone file, if it exists. */
  readonly bytes: Uint8Array | undefined
}

const LOCALTIME = '/etc/localtime'

/** Reads a zone file by name (`Australia/Melbourne`), from `TZDIR` if set; undefined for an unknown zone. */
export function readZoneFile(name: string, env: Variables = process.env): Uint8Array | undefined {
  if (name === '' || isAbsolute(name) || name.split('/').includes('..')) return undefined
  return read(join(zoneDir(env), name))
}

/** Returns the time zone of this process: `$TZ`, else /etc/localtime. */
export function processZone(env: Variables = process.env): ZoneSource {
  const name = env['TZ']
  if (name === undefined) return { name: localtimeName(env), bytes: read(LOCALTIME) }
  const file = name.replace(/^:/, '')
  // The user's own environment may name any file.
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
    return LOCALTIME // a copy instead of a link, or missing, which means UTC
  }
}

function read(path: string): Uint8Array | undefined {
  try {
    return readFileSync(path)
  } catch {
    return undefined // unknown zone: callers fall back to UTC, as the C library does
  }
}
