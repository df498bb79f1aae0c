/** Parses /proc/fs/jbd2/DEVICE/info, statistics of a journal of ext4 or ocfs2. Documentation/filesystems/ext4/journal.rst of the kernel */
import { readdirSync } from 'node:fs'
import { readAttribute, rooted } from '../../sys/proc.ts'

/** Averages over all transactions since the file system was mounted, by their text in the file. */
export const AVERAGES: {
  readonly [name in
    | 'waiting'
    | 'requestDelay'
    | 'running'
    | 'locked'
    | 'flushing'
    | 'logging'
    | 'committing'
    | 'handles'
    | 'blocks'
    | 'logged']: string
} = {
  waiting: 'ms waiting for transaction',
  requestDelay: 'ms request delay',
  running: 'ms running transaction',
  locked: 'ms transaction was being locked',
  flushing: 'ms flushing data (in ordered mode)',
  logging: 'ms logging transaction',
  committing: 'us average transaction commit time',
  handles: ' handles per transaction',
  blocks: ' blocks per transaction',
  logged: ' logged blocks per transaction',
}

/** A name of an average. */
export type AverageName = keyof typeof AVERAGES

/** One journal. Lines missing in older kernels are undefined. */
export interface Journal {
  /** Directory name: the device and, for a journal inside the file system, its inode. */
  readonly name: string
  /** Transactions committed since the file system was mounted. */
  readonly count: number
  /** Transactions whose commit was requested; since Linux 3.11. */
  readonly requested: number | undefined
  readonly maxBlocks: number
  readonly averages: { readonly [name in AverageName]?: number }
}

const NAMES = new Map<string, AverageName>(
  Object.entries(AVERAGES).map(([name, words]) => [words, name as AverageName]),
)
const HEADER = /^(\d+) transactions?(?: \((\d+) requested\))?, each up to (\d+) blocks$/

/** Parses a file; undefined if it is not one, and for a journal without averages, which has no commits yet. */
export function parseJournal(name: string, text: string): Journal | undefined {
  const lines = text.split('\n')
  const header = HEADER.exec(lines[0]!.trimEnd())
  if (header === null) return undefined
  const averages: { [name in AverageName]?: number } = {}
  for (const line of lines) {
    const [, digits, words = ''] = /^ {2}(\d+)(.*)$/.exec(line) ?? []
    const known = NAMES.get(words)
    if (known !== undefined) averages[known] = Number(digits)
  }
  if (Object.keys(averages).length === 0) return undefined
  return {
    name,
    count: Number(header[1]),
    requested: header[2] === undefined ? undefined : Number(header[2]),
    maxBlocks: Number(header[3]),
    averages,
  }
}

/** Reads all journals below `directory`, sorted by name; none if the directory does not exist. */
export function readJournals(root: string, directory: string): readonly Journal[] {
  let names: readonly string[]
  try {
    names = readdirSync(rooted(root, directory)).sort()
  } catch {
    return [] // no file system with a journal was ever mounted
  }
  return names.flatMap((name) => {
    const text = readAttribute(root, `${directory}/${name}/info`)
    const journal = text === undefined ? undefined : parseJournal(name, text)
    return journal === undefined ? [] : [journal]
  })
}
