/** Settings from flags, keys and resource files. pcp-atop(1), pcp-atoprc(5) */

/** Columns of processes, by key. */
export type View = 'g' | 'm' | 'd' | 'n' | 's' | 'v' | 'c' | 'X' | 'e' | 'o' | 'u' | 'p' | 'j'
/** Sort order of processes, by key; `A` follows the busiest resource. */
export type Order = 'C' | 'M' | 'D' | 'N' | 'E' | 'A'

/** Maximum numbers of lines by kind. */
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

/** Percentages at which resources are critical; 0 for never. */
export interface Limits {
  readonly cpu: number
  readonly dsk: number
  readonly net: number
  readonly mem: number
  readonly swp: number
  /** Pages swapped out a second. */
  readonly swout: number
  /** Percentage of the other limits at which a resource is almost critical. */
  readonly almost: number
}

/** Selected processes and devices; undefined for all. */
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

/** Colour names, as in the resource file. */
export interface Colors {
  readonly info: string
  readonly thread: string
  readonly almost: string
  readonly critical: string
}

/** A column in the user's own process line, with its weight. */
export interface CustomColumn {
  readonly name: string
  readonly weight: number
}

export interface Settings {
  readonly view: View
  /** Undefined for the view's own order. */
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
  readonly ownLine: readonly CustomColumn[]
}

const MANY = 999

/** Settings without flags. */
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

/** Limits with `-l`, for small screens. */
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

/** Returns the settings after a key or flag, which toggles switches; undefined for keys without settings. */
export function afterKey(settings: Settings, key: string): Settings | undefined {
  if (key.length !== 1) return undefined
  if (VIEWS.includes(key)) return { ...settings, view: key as View, order: orderOfView(key as View) }
  if (ORDERS.includes(key)) return { ...settings, order: key as Order }
  const name = SWITCHES[key]
  if (name !== undefined) return { ...settings, [name]: !settings[name] }
  return undefined
}

/** Returns the order of views about one resource; other views keep the order. */
function orderOfView(view: View): Order | undefined {
  const orders: Partial<Record<View, Order>> = { m: 'M', d: 'D', n: 'N', e: 'E' }
  return orders[view]
}

/** Returns a letter for each setting that differs from its default, for the heading. */
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
