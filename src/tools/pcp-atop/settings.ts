/** What a user of atop can choose by flags, keys and its resource file. pcp-atop(1), pcp-atoprc(5) */

/** Which columns processes have, by the key that chooses them. */
export type View = 'g' | 'm' | 'd' | 'n' | 's' | 'v' | 'c' | 'X' | 'e' | 'o' | 'u' | 'p' | 'j'
/** By what they are sorted; `A` is what the host is most busy with. */
export type Order = 'C' | 'M' | 'D' | 'N' | 'E' | 'A'

/** How many lines there are at most, by kind. */
export interface LineLimits {
  readonly cpu: number
  readonly gpu: number
  readonly LVM: number
  readonly MDD: number
  readonly DSK: number
  readonly nfsm: number
  readonly intf: number
  readonly cont: number
}

/** Percent from which on a resource is critical; 0: never. */
export interface Limits {
  readonly cpu: number
  readonly dsk: number
  readonly net: number
  readonly mem: number
  readonly swp: number
  /** Pages swapped out a second. */
  readonly swout: number
  /** Percent of the others from which on they are almost reached. */
  readonly almost: number
}

/** Which processes, and which devices, are shown; undefined: all. */
export interface Focus {
  readonly user: RegExp | undefined
  readonly program: RegExp | undefined
  readonly command: RegExp | undefined
  readonly container: string | undefined
  readonly pids: readonly number[]
  readonly states: string
  readonly volume: RegExp | undefined
  readonly disk: RegExp | undefined
  readonly interface: RegExp | undefined
}

/** Names of colours, as in the resource file. */
export interface Colors {
  readonly info: string
  readonly thread: string
  readonly almost: string
  readonly critical: string
}

/** A column that a user put into a line of his own, and its weight. */
export interface OwnColumn {
  readonly name: string
  readonly weight: number
}

/** All choices together. */
export interface Settings {
  readonly view: View
  /** Undefined: what the view is about. */
  readonly order: Order | undefined
  readonly showsAll: boolean
  readonly threads: boolean
  readonly sortsThreads: boolean
  readonly fixed: boolean
  readonly unsorted: boolean
  readonly hidesExited: boolean
  readonly perSecond: boolean
  readonly pss: boolean
  readonly wchan: boolean
  readonly noColor: boolean
  readonly maxLines: LineLimits
  readonly limits: Limits
  readonly focus: Focus
  readonly colors: Colors
  readonly ownLine: readonly OwnColumn[]
}

const MANY = 999

/** Without any flag. */
export const DEFAULTS: Settings = {
  view: 'g',
  order: undefined,
  showsAll: false,
  threads: false,
  sortsThreads: false,
  fixed: false,
  unsorted: false,
  hidesExited: false,
  perSecond: false,
  pss: false,
  wchan: false,
  noColor: false,
  maxLines: { cpu: MANY, gpu: MANY, LVM: MANY, MDD: MANY, DSK: MANY, nfsm: MANY, intf: MANY, cont: MANY },
  limits: { cpu: 90, dsk: 70, net: 90, mem: 90, swp: 80, swout: 10, almost: 80 },
  focus: {
    user: undefined,
    program: undefined,
    command: undefined,
    container: undefined,
    pids: [],
    states: '',
    volume: undefined,
    disk: undefined,
    interface: undefined,
  },
  colors: { info: 'green', thread: 'yellow', almost: 'cyan', critical: 'red' },
  ownLine: [],
}

/** With `-l`: what makes small screens readable. */
export const FEW_LINES: LineLimits = {
  ...DEFAULTS.maxLines,
  cpu: 0,
  gpu: 2,
  LVM: 5,
  MDD: 5,
  DSK: 5,
  intf: 2,
  cont: 5,
}

const VIEWS = 'gmdnsvcXeoupj'
const ORDERS = 'CMDNEA'
type Switch =
  | 'showsAll'
  | 'threads'
  | 'sortsThreads'
  | 'fixed'
  | 'unsorted'
  | 'hidesExited'
  | 'perSecond'
  | 'pss'
  | 'wchan'
  | 'noColor'
const SWITCHES: Readonly<Record<string, Switch>> = {
  a: 'showsAll',
  y: 'threads',
  Y: 'sortsThreads',
  f: 'fixed',
  F: 'unsorted',
  G: 'hidesExited',
  '1': 'perSecond',
  R: 'pss',
  W: 'wchan',
  x: 'noColor',
}

/** The settings after a key or flag, undefined for one that chooses nothing. A switch that is on goes off. */
export function afterKey(settings: Settings, key: string): Settings | undefined {
  if (key.length !== 1) return undefined
  if (VIEWS.includes(key)) return { ...settings, view: key as View, order: orderOfView(key as View) }
  if (ORDERS.includes(key)) return { ...settings, order: key as Order }
  const name = SWITCHES[key]
  if (name !== undefined) return { ...settings, [name]: !settings[name] }
  return undefined
}

/** Views of one resource are sorted by it; others leave the order as it was. */
function orderOfView(view: View): Order | undefined {
  const orders: Partial<Record<View, Order>> = { m: 'M', d: 'D', n: 'N', e: 'E' }
  return orders[view]
}

/** What the heading shows of the settings: a letter for each that is not as usual. */
export function flagsText({ focus, ...settings }: Settings): string {
  const letters: readonly (readonly [string, boolean])[] = [
    ['y', settings.threads],
    ['Y', settings.sortsThreads],
    ['f', settings.fixed],
    ['F', settings.unsorted],
    ['a', settings.showsAll],
    ['x', settings.noColor],
    ['1', settings.perSecond],
    ['R', settings.pss],
    ['W', settings.wchan],
    ['G', settings.hidesExited],
    ['U', focus.user !== undefined],
    ['P', focus.program !== undefined],
    ['J', focus.container !== undefined],
    ['/', focus.command !== undefined],
    ['I', focus.pids.length > 0],
    ['Q', focus.states !== ''],
    ['S', focus.volume !== undefined || focus.disk !== undefined || focus.interface !== undefined],
  ]
  return letters.map(([letter, isOn]) => (isOn ? letter : '-')).join('')
}
