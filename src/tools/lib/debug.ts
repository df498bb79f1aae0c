/** The names of diagnostics that -D and PCP_DEBUG take. pmdbg(1), pmSetDebug(3) */

const NAMES: ReadonlySet<string> = new Set(
  (
    'pdu fetch profile value context indom pdubuf log logmeta optfetch af appl0 appl1 appl2 pmns libpmda timecontrol ' +
    'pmc derive lock interp config pmapi fault auth discovery attr http desperate deprecated exec labels series ' +
    'libweb alloc services appl3 appl4 appl5 access qa search query compress dev0 dev1 dev2 pmlc appl6 appl7 appl8 ' +
    'appl9 tls misc qed getopt'
  ).split(' '),
)

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
