/** Project quotas of XFS file systems. quotactl(2), linux/dqblk_xfs.h; no other interface exists */
import { type LoadNative, loadNative, nativeProblem } from './calls.ts'

/** Whether files of projects are counted, and whether limits are enforced. */
export interface QuotaState {
  readonly accounting: boolean
  readonly enforcement: boolean
}

/** Usage and limits of one project: files as a number, space in units of 512 bytes; a limit of 0 means unlimited. */
export interface ProjectQuota {
  readonly hardBlocks: bigint
  readonly softBlocks: bigint
  readonly usedBlocks: bigint
  readonly hardFiles: bigint
  readonly softFiles: bigint
  readonly usedFiles: bigint
  /** Seconds since the epoch at which an exceeded soft limit becomes a hard limit; otherwise 0. */
  readonly blocksUntil: number
  readonly filesUntil: number
}

/** Queries file systems by device. */
export interface ProjectQuotas {
  /** Returns undefined for a file system without quotas, and without permission. */
  state(device: string): QuotaState | undefined
  /** Returns undefined for a project unknown to the file system. */
  quota(device: string, project: number): ProjectQuota | undefined
}

const GET_QUOTA = 0x5803
const GET_STATE = 0x5805
const OF_PROJECTS = 2
const ACCOUNTING = 0x10
const ENFORCEMENT = 0x20
/** Larger than both structures. */
const ROOM = 256

/** Loads the call of the C library immediately. Returns a sentence with the reason instead if that is impossible. */
export function openProjectQuotas(load: LoadNative = loadNative): ProjectQuotas | string {
  const native = load()
  if (native === undefined) return nativeProblem() ?? 'calls of the C library are not possible'
  const quotactl = native.bind('int quotactl(int command, const char *device, int id, uint8_t *answer)')
  const answer = new Uint8Array(ROOM)
  const view = new DataView(answer.buffer)
  const isAnswered = (question: number, device: string, id: number): boolean => {
    answer.fill(0)
    return Number(quotactl(question * 256 + OF_PROJECTS, device, id, answer)) === 0
  }
  return {
    state(device) {
      if (!isAnswered(GET_STATE, device, 0)) return undefined
      const flags = view.getUint16(2, IS_LITTLE)
      return { accounting: (flags & ACCOUNTING) !== 0, enforcement: (flags & ENFORCEMENT) !== 0 }
    },
    quota(device, project) {
      if (!isAnswered(GET_QUOTA, device, project)) return undefined
      const wide = (at: number): bigint => view.getBigUint64(at, IS_LITTLE)
      return {
        hardBlocks: wide(8),
        softBlocks: wide(16),
        hardFiles: wide(24),
        softFiles: wide(32),
        usedBlocks: wide(40),
        usedFiles: wide(48),
        filesUntil: view.getInt32(56, IS_LITTLE),
        blocksUntil: view.getInt32(60, IS_LITTLE),
      }
    },
  }
}

/** The kernel uses this machine's byte order. */
const IS_LITTLE: boolean = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1
