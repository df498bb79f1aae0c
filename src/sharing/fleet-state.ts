/** What recorders share: who is alive, and since which change each has only recorded its own hosts. docs/decisions/recorder-lease.md */
import { PcpError } from '../model/errors.ts'
import { MOST_BYTES } from './register.ts'

/** One recorder. */
export interface MemberState {
  /** Decides which hosts it records; the same after a restart. */
  readonly name: string
  /** Differs for each time it joined. */
  readonly id: string
  /** Grows with each renewal. */
  readonly seq: number
  /** The latest epoch for which it has ended the recordings of all other hosts. */
  readonly ack: number
  /** Duration of its lease in milliseconds. */
  readonly ttlMs: number
  /** Its process, as by `formatIdentity`. */
  readonly process: string
}

/** The shared state. */
export interface FleetState {
  /** Grows whenever a recorder joins or leaves. */
  readonly epoch: number
  /** Not empty after a loss of the state: recorders that are missing in it may still record, so that no recording begins. */
  readonly unsettled: string
  readonly members: readonly MemberState[]
}

/** Most recorders that share a list. */
export const MOST_MEMBERS = 64
/** Longest name of a recorder. */
export const MOST_NAME = 128
const MOST_ID = 64
const MOST_PROCESS = 400
const FORMAT = 1
/** Longest lease: a day. */
const MOST_TTL_MS = 86_400_000

export function formatState(state: FleetState): string {
  return `${JSON.stringify({ format: FORMAT, ...state })}\n`
}

/** Parses a state; throws PM_ERR_CONV naming `place`. The text of version 0 is empty: a lost or new state. */
export function parseState(text: string, place: string): FleetState {
  const fail = (problem: string): never => {
    throw new PcpError('PM_ERR_CONV', `${place}: not the state of recorders: ${problem}. Use another place`)
  }
  if (text.length > MOST_BYTES) fail('too long')
  let parsed: unknown
  try {
    parsed = JSON.parse(text)
  } catch {
    fail('not JSON')
  }
  const { format, epoch, unsettled, members } = (parsed ?? {}) as Record<string, unknown>
  if (format !== FORMAT) fail(`format ${String(format)}, expected ${FORMAT}`)
  if (!isCount(epoch) || !isText(unsettled, MOST_ID)) fail('invalid epoch')
  if (!Array.isArray(members) || members.length > MOST_MEMBERS || !members.every(isMember))
    fail('invalid list of recorders')
  return { epoch: epoch as number, unsettled: unsettled as string, members: members as MemberState[] }
}

function isMember(value: unknown): value is MemberState {
  const { name, id, seq, ack, ttlMs, process } = (value ?? {}) as Partial<MemberState>
  return (
    isText(name, MOST_NAME) &&
    isText(id, MOST_ID) &&
    isCount(seq) &&
    isCount(ack) &&
    isCount(ttlMs) &&
    ttlMs > 0 &&
    ttlMs <= MOST_TTL_MS &&
    isText(process, MOST_PROCESS)
  )
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0
}

function isText(value: unknown, most: number): value is string {
  return typeof value === 'string' && value.length <= most
}
