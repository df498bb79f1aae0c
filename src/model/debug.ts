/**
 * Diagnostics: the names that -D and PCP_DEBUG take, which of them are on in this process, and where their lines go.
 * pmdbg(1), pmSetDebug(3), docs/guide/debugging.md
 */
import { loggableMessage } from '../base/printable.ts'
import { PcpError } from './errors.ts'

/** A diagnostic. Every name is accepted everywhere; not every one says something. */
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

/** Every name, in PCP's order. */
export const DEBUG_NAMES: readonly DebugName[] = (
  'pdu fetch profile value context indom pdubuf log logmeta optfetch af appl0 appl1 appl2 pmns libpmda timecontrol ' +
  'pmc derive lock interp config pmapi fault auth discovery attr http desperate deprecated exec labels series ' +
  'libweb alloc services appl3 appl4 appl5 access qa search query compress dev0 dev1 dev2 pmlc appl6 appl7 appl8 ' +
  'appl9 tls misc qed getopt'
).split(' ') as DebugName[]

const NAMES: ReadonlySet<DebugName> = new Set(DEBUG_NAMES)
/** Before there were names there were bits: the names up to `http` have them in order, `desperate` has the last. */
const NUMBERED = DEBUG_NAMES.slice(0, DEBUG_NAMES.indexOf('http') + 1)
const DESPERATE_BIT = 2 ** 30

/** Is this the name of a diagnostic? */
function isDebugName(name: string): name is DebugName {
  return (NAMES as ReadonlySet<string>).has(name)
}

/**
 * Names in a comma list such as `pdu,fetch`, in lower case; `all` stands for every name. Undefined when one is unknown,
 * as then none holds. A comma at the end does not matter.
 */
export function parseDebug(list: string): ReadonlySet<DebugName> | undefined {
  if (list === '') return new Set()
  const names = list.replace(/,$/, '').toLowerCase().split(',')
  if (!names.every((name) => name === 'all' || isDebugName(name))) return undefined
  return names.includes('all') ? NAMES : new Set(names.filter(isDebugName))
}

/** The number that older releases used for these names; names that came later have no part in it. */
export function debugBits(names: ReadonlySet<string>): number {
  const numbered = NUMBERED.reduce((bits, name, i) => (names.has(name) ? bits | (1 << i) : bits), 0)
  return names.has('desperate') ? numbered | DESPERATE_BIT : numbered
}

/** The names that a number of older releases stands for. */
export function debugOfBits(bits: number): ReadonlySet<DebugName> {
  const names = new Set<DebugName>(NUMBERED.filter((_name, i) => (bits & (1 << i)) !== 0))
  if ((bits & DESPERATE_BIT) !== 0) names.add('desperate')
  return names
}

/** Takes a line of diagnostics, without its newline. */
export type TraceWriter = (line: string) => void

interface Diagnostics {
  readonly flags: Record<DebugName, boolean>
  readonly listeners: Set<() => void>
  write: TraceWriter
}

const toConsole: TraceWriter = (line) => console.error(line)

/** One for the process: a command ships in several files, and each of them has a copy of this module. */
const KEY: unique symbol = Symbol.for('pcp-ts.diagnostics')
const holder = globalThis as { [KEY]?: Diagnostics }
holder[KEY] ??= {
  flags: Object.fromEntries(DEBUG_NAMES.map((name) => [name, false])) as Record<DebugName, boolean>,
  listeners: new Set(),
  write: toConsole,
}
const diagnostics: Diagnostics = holder[KEY]

/**
 * What is on in this process: `if (debug.fetch) trace('fetch', ...)` costs a field read while it is off. Change it by
 * `setDebug` and `clearDebug`.
 */
export const debug: Readonly<Record<DebugName, boolean>> = diagnostics.flags

/** Switches diagnostics on, besides those that are. PM_ERR_CONV, and no change, when a name is unknown. @see pmSetDebug(3) */
export function setDebug(list: string): void {
  change(list, true)
}

/** Switches diagnostics off. PM_ERR_CONV, and no change, when a name is unknown. @see pmClearDebug(3) */
export function clearDebug(list: string): void {
  change(list, false)
}

/** Switches these diagnostics on and all others off; their lines go to `write` from now on, unless there are none. */
export function replaceDebug(names: ReadonlySet<string>, write: TraceWriter): void {
  if (names.size > 0) traceTo(write)
  const off = DEBUG_NAMES.filter((name) => debug[name] && !names.has(name))
  clearDebug(off.join(','))
  setDebug([...names].join(','))
}

function change(list: string, on: boolean): void {
  const names = parseDebug(list)
  if (names === undefined) throw new PcpError('PM_ERR_CONV', `Unknown name of a diagnostic: "${list}"`)
  for (const name of names) diagnostics.flags[name] = on
  for (const listener of diagnostics.listeners) listener()
}

/** Calls a function whenever diagnostics are switched, for threads that have their own. Returns how to stop. */
export function onDebugChange(listener: () => void): () => void {
  diagnostics.listeners.add(listener)
  return () => diagnostics.listeners.delete(listener)
}

/** Is one of these on? `all` asks for every one. An unknown name is not on. @see pmDebug(3) */
export function isDebug(list: string): boolean {
  const names = parseDebug(list)
  if (names === undefined) return false
  return names === NAMES ? DEBUG_NAMES.every((name) => debug[name]) : [...names].some((name) => debug[name])
}

/** What is on, as a comma list that `setDebug` takes; `all` for everything. @see pmGetDebug(3) */
export function debugList(): string {
  const on = DEBUG_NAMES.filter((name) => debug[name])
  return on.length === DEBUG_NAMES.length ? 'all' : on.join(',')
}

/** Where lines of diagnostics go from now on; without a writer to the console, which is standard error under Node. */
export function traceTo(write: TraceWriter = toConsole): void {
  diagnostics.write = write
}

/** Writes one line, `NAME: TEXT`. Others choose parts of the text, so control characters and the like become codes. */
export function trace(name: DebugName, text: string): void {
  traceLine(`${name}: ${text}`)
}

/** Writes one line as it is, where scripts look for a form of PCP's; control characters as `trace` does. */
export function traceLine(text: string): void {
  diagnostics.write(loggableMessage(text))
}
