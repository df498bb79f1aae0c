/** The lines of pcp ss. pcp-ss(1), ss(8) */
import { formatF } from '../../base/printf.ts'
import type { Sample } from '../lib/sampled/metrics.ts'
import type { SsOptions } from './options.ts'

const ROOT = 'network.persocket'

/** Metrics of a socket, with the text before and after their values. */
const INTERNALS: readonly (readonly [metric: string, before: string, after?: string])[] = [
  ['wscale.str', 'wscale:'],
  ['round_trip.str', 'rtt:'],
  ['ato', 'ato:'],
  ['mss', 'mss:'],
  ['cwnd', 'cwnd:'],
  ['pmtu', 'pmtu:'],
  ['ssthresh', 'ssthresh:'],
  ['bytes_sent', 'bytes_sent:'],
  ['bytes_acked', 'bytes_acked:'],
  ['bytes_received', 'bytes_received:'],
  ['segs_out', 'segs_out:'],
  ['segs_in', 'segs_in:'],
  ['send', 'send ', 'bps'],
  ['lastsnd', 'lastsnd:'],
  ['lastrcv', 'lastrcv:'],
  ['lastack', 'lastack:'],
  ['pacing_rate', 'pacing_rate ', 'bps'],
  ['delivery_rate', 'delivery_rate ', 'bps'],
  ['rcv_space', 'rcv_space:'],
]

/** Flags, shown by name if set. */
const FLAGS: readonly string[] = ['ts', 'sack', 'cubic']

/** Floating point metrics shown without decimals. */
const REALS: ReadonlySet<string> = new Set(['ato', 'send', 'pacing_rate', 'delivery_rate'])

export const METRICS: readonly string[] = [
  'filter',
  'netid',
  'state',
  'recvq',
  'sendq',
  'src',
  'dst',
  'uid',
  'inode',
  'sk',
  'cgroup',
  'v6only',
  'timer.str',
  'skmem.str',
  ...FLAGS,
  ...INTERNALS.map(([metric]) => metric),
].map((name) => `${ROOT}.${name}`)

/** The heading of the columns. */
export const HEADING =
  'Netid  State  Recv-Q Send-Q        Local Address:Port Peer Address:Port          Process\n'

/** Formats the selected sockets in order. Values missing in `sample` are taken from `before`. */
export function socketLines(sample: Sample, before: Sample | undefined, options: SsOptions): string {
  const socket = new Socket(sample, before)
  let text = ''
  const known = sample.has(`${ROOT}.state`) ? sample : before
  for (const inst of known?.texts(`${ROOT}.state`).keys() ?? []) {
    socket.inst = inst
    if (isWanted(socket, options)) text += lineOf(socket, options)
  }
  return text
}

/** Reads the values of one socket after another, with cached lookups. */
class Socket {
  readonly #now: Sample
  readonly #before: Sample | undefined
  readonly #texts = new Map<string, ReadonlyMap<number, string>>()
  inst = 0

  constructor(now: Sample, before: Sample | undefined) {
    this.#now = now
    this.#before = before
  }

  text(name: string): string {
    let texts = this.#texts.get(name)
    if (texts === undefined) {
      const metric = `${ROOT}.${name}`
      texts = new Map([...(this.#before?.texts(metric) ?? []), ...this.#now.texts(metric)])
      this.#texts.set(name, texts)
    }
    return texts.get(this.inst) ?? ''
  }

  #number(name: string): number | undefined {
    const metric = `${ROOT}.${name}`
    return this.#now.number(metric, this.inst) ?? this.#before?.number(metric, this.inst)
  }

  isSet(name: string): boolean {
    return (this.#number(name) ?? 0) !== 0
  }

  /** Returns a number without decimals; '' if missing. */
  whole(name: string): string {
    const value = this.#number(name)
    return value === undefined ? '' : formatF(value, 0)
  }
}

function isWanted(socket: Socket, { listeningOnly, families, protocols }: SsOptions): boolean {
  if (listeningOnly && socket.text('state') !== 'LISTEN') return false
  const netid = socket.text('netid')
  if (protocols !== undefined && !protocols.some((begin) => netid.startsWith(begin))) return false
  return families.has(socket.text('src').startsWith('[') ? 6 : 4)
}

function lineOf(socket: Socket, options: SsOptions): string {
  const { showsTimers, isExtended, showsMemory, showsInternals, isOneLine } = options
  const columns = [
    socket.text('netid').padEnd(6),
    socket.text('state').padEnd(9),
    socket.text('recvq').padStart(6),
    socket.text('sendq').padStart(6),
    socket.text('src').padStart(26),
    ` ${socket.text('dst').padEnd(26)}`,
  ].join('')
  let line = columns
  const timer = socket.text('timer.str')
  if (showsTimers && timer !== '') line += ` timer(${timer})`
  if (isExtended) line += extended(socket)
  if ((showsMemory || showsInternals) && !isOneLine) line += '\n'
  const memory = socket.text('skmem.str')
  if (showsMemory && memory !== '') line += ` skmem(${memory})`
  if (showsInternals) line += internals(socket)
  return `${line}\n`
}

function extended(socket: Socket): string {
  const key = socket.text('sk')
  const hex = key === '' ? '' : BigInt(key).toString(16)
  const v6only = socket.isSet('v6only') ? ` v6only:${socket.text('v6only')}` : ''
  return ` uid:${socket.text('uid')} inode:${socket.text('inode')} sk:${hex} cgroup:${socket.text('cgroup')}${v6only} <->`
}

function internals(socket: Socket): string {
  const flags = FLAGS.filter((flag) => socket.isSet(flag)).map((flag) => ` ${flag}`)
  const values = INTERNALS.map(([metric, before, after = '']) => {
    const value = REALS.has(metric) ? socket.whole(metric) : socket.text(metric)
    return ` ${before}${value}${after}`
  })
  return [...flags, ...values].join('')
}
