/** The names of diagnostics that -D and PCP_DEBUG take. pmdbg(1), pmSetDebug(3) */

/** Every name, in PCP's order. */
export const DEBUG_NAMES: readonly string[] = (
  'pdu fetch profile value context indom pdubuf log logmeta optfetch af appl0 appl1 appl2 pmns libpmda timecontrol ' +
  'pmc derive lock interp config pmapi fault auth discovery attr http desperate deprecated exec labels series ' +
  'libweb alloc services appl3 appl4 appl5 access qa search query compress dev0 dev1 dev2 pmlc appl6 appl7 appl8 ' +
  'appl9 tls misc qed getopt'
).split(' ')

const NAMES: ReadonlySet<string> = new Set(DEBUG_NAMES)
/** Before there were names there were bits: the names up to `http` have them in order, `desperate` has the last. */
const NUMBERED = DEBUG_NAMES.slice(0, DEBUG_NAMES.indexOf('http') + 1)
const DESPERATE_BIT = 2 ** 30

/**
 * Names in a comma list such as `pdu,fetch`, in lower case; `all` stands for every name. Undefined when one is unknown,
 * as then none holds. A comma at the end does not matter.
 */
export function parseDebug(list: string): ReadonlySet<string> | undefined {
  if (list === '') return new Set()
  const names = list.replace(/,$/, '').toLowerCase().split(',')
  if (!names.every((name) => name === 'all' || NAMES.has(name))) return undefined
  return names.includes('all') ? NAMES : new Set(names)
}

/** The number that older releases used for these names; names that came later have no part in it. */
export function debugBits(names: ReadonlySet<string>): number {
  const numbered = NUMBERED.reduce((bits, name, i) => (names.has(name) ? bits | (1 << i) : bits), 0)
  return names.has('desperate') ? numbered | DESPERATE_BIT : numbered
}

/** The names that a number of older releases stands for. */
export function debugOfBits(bits: number): ReadonlySet<string> {
  const names = new Set(NUMBERED.filter((_name, i) => (bits & (1 << i)) !== 0))
  if ((bits & DESPERATE_BIT) !== 0) names.add('desperate')
  return names
}
