/** Compressing files, with a program or without: complete and on the disk before the other one goes. */
import { createReadStream, createWriteStream, lchownSync, type Stats, statSync } from 'node:fs'
import { chmod, rename, rm, utimes } from 'node:fs/promises'
import { PcpError } from '../../../model/errors.ts'
import type { Variables } from '../../../sys/config.ts'
import type { Owner } from './owner.ts'
import { findProgram, runProgram } from './programs.ts'
import { splitWords } from './words.ts'

/** How files are compressed. */
export interface Compressor {
  /** As it is shown: `xz -0 --block-size=10MiB`. */
  readonly command: string
  /** Compresses files of a directory in place, with the rights of an owner; rejects with the first that could not be. */
  compress(dir: string, names: readonly string[], owner?: Owner): Promise<void>
}

/** What is taken when nobody says otherwise: the first that this system has. */
const PREFERRED = ['xz -0 --block-size=10MiB', 'zstd -q --rm', 'gzip'] as const

/** Options without which a program of that name asks, keeps the input, or is silent about nothing. */
const PROGRAM_OF_SUFFIX: Readonly<Record<string, string>> = {
  '.xz': 'xz -0',
  '.lzma': 'xz -0 --format=lzma',
  '.bz2': 'bzip2',
  '.bz': 'bzip2',
  '.gz': 'gzip',
  '.z': 'gzip -S .z',
  '.Z': 'compress',
  '.zst': 'zstd -q --rm',
}

/** The compressor for a command, or the preferred one; undefined when there is no such program. */
export function compressorFor(command: string | undefined, variables: Variables): Compressor | undefined {
  const commands = command === undefined ? PREFERRED : [command]
  for (const each of commands) {
    const [name, ...args] = splitWords(each)
    const program = name === undefined ? undefined : findProgram(name, variables)
    if (program !== undefined) return withProgram(each, program, args, variables)
  }
  return command === undefined ? WITHOUT_PROGRAM : undefined
}

/** The compressor that makes files with that suffix; undefined when there is no such program. */
export function compressorOfSuffix(suffix: string, variables: Variables): Compressor | undefined {
  const command = PROGRAM_OF_SUFFIX[suffix]
  const found = command === undefined ? undefined : compressorFor(command, variables)
  return found ?? (suffix === '.gz' ? WITHOUT_PROGRAM : undefined)
}

function withProgram(command: string, program: string, args: string[], env: Variables): Compressor {
  return {
    command,
    compress: async (dir, names, owner) => {
      let said = ''
      const write = (text: string): void => {
        said += text
      }
      const status = await runProgram(program, [...args, ...names], { cwd: dir, env, owner, write })
      if (status !== 0)
        throw new PcpError('EIO', `${command} ended with status ${status}${said && `: ${said.trim()}`}`)
    },
  }
}

/** The gzip format, which every reader of archives knows. */
const WITHOUT_PROGRAM: Compressor = {
  command: 'gzip',
  compress: async (dir, names) => {
    for (const name of names) await gzipFile(`${dir}/${name}`)
  },
}

async function gzipFile(path: string): Promise<void> {
  const { createGzip } = process.getBuiltinModule('node:zlib')
  const { pipeline } = process.getBuiltinModule('node:stream/promises')
  const unfinished = `${path}.gz.new`
  try {
    const stats = statSync(path)
    await pipeline(createReadStream(path), createGzip(), createWriteStream(unfinished, { flush: true }))
    await makeLike(unfinished, stats)
    await rename(unfinished, `${path}.gz`)
  } catch (error) {
    await rm(unfinished, { force: true })
    throw error
  }
  await rm(path)
}

/** Gives a new file the age, mode and, for root, the owner of the one that it is in place of. */
export async function makeLike(path: string, { atime, mtime, mode, uid, gid }: Stats): Promise<void> {
  if (process.geteuid?.() === 0) lchownSync(path, uid, gid)
  await chmod(path, mode & 0o777)
  await utimes(path, atime, mtime)
}
