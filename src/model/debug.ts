/**
 * Diagnostics: the options of -D and PCP_DEBUG, the state of each in this process, and where their output goes.
 * pmdbg(1), pmSetDebug(3), docs/how-to/debug.md
 */
import { loggableMessage } from '../base/printable.ts'
import { PcpError } from './errors.ts'

/** A diagnostic option. All names are accepted everywhere, but not all of them have output. */
export type DebugName =
  | 'pdu'
  | 'fetch'
  | 'profile'
  | 'value'
  | 'context'
  | 'indom'
  | 'pdubuf'
  | 'log'
  | 'logmeta'
  | 'optfetch'
  | 'af'
  | `appl${0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9}`
  | 'pmns'
  | 'libpmda'
  | 'timecontrol'
  | 'pmc'
  | 'derive'
  | 'lock'
  | 'interp'
  | 'config'
  | 'pmapi'
  | 'fault'
  | 'auth'
  | 'discovery'
  | 'attr'
  | 'http'
  | 'desperate'
  | 'deprecated'
  | 'exec'
  | 'labels'
  | 'series'
  | 'libweb'
  | 'alloc'
  | 'services'
  | 'access'
  | 'qa'
  | 'search'
  | 'query'
  | 'compress'
  | `dev${0 | 1 | 2}`
  | 'pmlc'
  | 'tls'
  | 'misc'
  | 'qed'
  | 'getopt'

/** All names, in PCP's order. */
export const DEBUG_NAMES: readonly DebugName[] = (
  'pdu fetch profile value context indom pdubuf log logmeta optfetch af appl0 appl1 appl2 pmns libpmda timecontrol ' +
  'pmc derive lock interp config pmapi fault auth discovery attr http desperate deprecated exec labels series ' +
  'libweb alloc services appl3 appl4 appl5 access qa search query compress dev0 dev1 dev2 pmlc appl6 appl7 appl8 ' +
  'appl9 tls misc qed getopt'
).split(' ') as DebugName[]

const NAMES: ReadonlySet<DebugName> = new Set(DEBUG_NAMES)
/** Bits of the older, numeric form: the names up to `http` in order; the last bit is `desperate`. */
const NUMBERED = DEBUG_NAMES.slice(0, DEBUG_NAMES.indexOf('http') + 1)
const DESPERATE_BIT = 2 ** 30

function isDebugName(name: string): name is DebugName {
  return (NAMES as ReadonlySet<string>).has(name)
}

/**
 * Parses a comma-separated list such as `pdu,fetch`; `all` means every name. Returns undefined if a name is unknown, as then
 * the whole list is rejected. A trailing comma is allowed.
 */
export function parseDebug(list: string): ReadonlySet<DebugName> | undefined {
  if (list === '') return new Set()
  const names = list.replace(/,$/, '').toLowerCase().split(',')
  if (!names.every((name) => name === 'all' || isDebugName(name))) return undefined
  return names.includes('all') ? NAMES : new Set(names.filter(isDebugName))
}

/** Returns the older, numeric form; names without a bit are ignored. */
export function debugBits(names: ReadonlySet<string>): number {
  const numbered = NUMBERED.reduce((bits, name, i) => (names.has(name) ? bits | (1 << i) : bits), 0)
  return names.has('desperate') ? numbered | DESPERATE_BIT : numbered
}

/** Returns the names for a number in the older form. */
export function debugNamesOfBits(bits: number): ReadonlySet<DebugName> {
  const names = new Set<DebugName>(NUMBERED.filter((_name, i) => (bits & (1 << i)) !== 0))
  if ((bits & DESPERATE_BIT) !== 0) names.add('desperate')
  return names
}

/** Writes a line of diagnostics, without newline. */
export type TraceWriter = (line: string) => void

interface Diagnostics {
  readonly flags: Record<DebugName, boolean>
  readonly listeners: Set<() => void>
  write: TraceWriter
}

const toConsole: TraceWriter = (line) => console.error(line)

/** One per process: a command is bundled into several files, each with a copy of this module. */
const KEY: unique symbol = Symbol.for('pcp-ts.diagnostics')
const holder = globalThis as { [KEY]?: Diagnostics }
holder[KEY] ??= {
  flags: Object.fromEntries(DEBUG_NAMES.map((name) => [name, false])) as Record<DebugName, boolean>,
  listeners: new Set(),
  write: toConsole,
}
const diagnostics: Diagnostics = holder[KEY]

/**
 * The options that are on in this process. `if (debug.fetch) trace('fetch', ...)` costs one field read while it is off. Changed
 * by `setDebug` and `clearDebug`.
 */
export const debug: Readonly<Record<DebugName, boolean>> = diagnostics.flags

/** Switches options on. PM_ERR_CONV, and no change, if a name is unknown. @see pmSetDebug(3) */
export function setDebug(list: string): void {
  change(list, true)
}

/** Switches options off. PM_ERR_CONV, and no change, if a name is unknown. @see pmClearDebug(3) */
export function clearDebug(list: string): void {
  change(list, false)
}

/** Switches these options on and all others off. If any is on, output goes to `write` from now on. */
export function replaceDebug(names: ReadonlySet<string>, write: TraceWriter): void {
  if (names.size > 0) traceTo(write)
  const off = DEBUG_NAMES.filter((name) => debug[name] && !names.has(name))
  clearDebug(off.join(','))
  setDebug([...names].join(','))
}

function change(list: string, on: boolean): void {
  const names = parseDebug(list)
  if (names === undefined)
    throw new PcpError('PM_ERR_CONV', `Unknown diagnostic option in "${list}"; pmdbg -l lists them`)
  for (const name of names) diagnostics.flags[name] = on
  for (const listener of diagnostics.listeners) listener()
}

/** Calls a function whenever options change, for threads that have a copy. Returns a function that removes the listener. */
export function onDebugChange(listener: () => void): () => void {
  diagnostics.listeners.add(listener)
  return () => diagnostics.listeners.delete(listener)
}

/** Returns whether any of these options is on; with `all`, whether every one is. Unknown names are never on. @see pmDebug(3) */
export function isDebug(list: string): boolean {
  const names = parseDebug(list)
  if (names === undefined) return false
  return names === NAMES ? DEBUG_NAMES.every((name) => debug[name]) : [...names].some((name) => debug[name])
}

/** Returns the options that are on, as a list for `setDebug`; `all` if all are. @see pmGetDebug(3) */
export function debugList(): string {
  const on = DEBUG_NAMES.filter((name) => debug[name])
  return on.length === DEBUG_NAMES.length ? 'all' : on.join(',')
}

/** Sets the writer of diagnostics. Default: the console, which is standard error under Node. */
export function traceTo(write: TraceWriter = toConsole): void {
  diagnostics.write = write
}

/** Writes one line, `NAME: TEXT`. Control characters become codes, because parts of texts come from clients and agents. */
export function trace(name: DebugName, text: string): void {
  traceLine(`${name}: ${text}`)
}

/** Writes one line without prefix, in a format that scripts expect from PCP; control characters as in `trace`. */
export function traceLine(text: string): void {
  diagnostics.write(loggableMessage(text))
}
