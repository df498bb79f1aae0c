/** The programs that compress files of archives. */
import { type Compressor, GZIP } from '../../../archive-store/compress.ts'
import { PcpError } from '../../../model/errors.ts'
import type { Variables } from '../../../sys/config.ts'
import { asParent } from '../../../sys/parent-process.ts'
import type { Owner } from './owner.ts'
import { findProgram, runProgram } from './programs.ts'
import { splitWords } from './words.ts'

/** The default: the first that is installed. */
const PREFERRED = ['xz -0 --block-size=10MiB', 'zstd -q --rm', 'gzip'] as const

/** Options without which a program of that name prompts, keeps its input, or uses another suffix. */
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

/** Finds the compressor for a command, or the preferred one; undefined when the program is not installed. */
export function compressorFor(command: string | undefined, variables: Variables): Compressor | undefined {
  const commands = command === undefined ? PREFERRED : [command]
  for (const each of commands) {
    const [name, ...args] = splitWords(each)
    const program = name === undefined ? undefined : findProgram(name, variables)
    if (program !== undefined) return withProgram(each, program, args, variables)
  }
  return command === undefined ? GZIP : undefined
}

/** Finds the compressor that makes files with a suffix; undefined when its program is not installed. */
export function compressorOfSuffix(suffix: string, variables: Variables): Compressor | undefined {
  const command = PROGRAM_OF_SUFFIX[suffix]
  const found = command === undefined ? undefined : compressorFor(command, variables)
  return found ?? (suffix === '.gz' ? GZIP : undefined)
}

/** Files that one command gets: its command line has a limit. */
const AT_ONCE = 200

/** Compresses files of a directory with the rights of their owner, by pmlogcompress. Rejects with EIO and what it printed. */
export async function compressAs(
  dir: string,
  names: readonly string[],
  {
    compressor,
    owner,
    variables,
  }: { compressor: Compressor; owner: Owner | undefined; variables: Variables },
): Promise<void> {
  const program = findProgram('pmlogcompress', variables)
  if (program === undefined) throw new PcpError('ENOENT', 'cannot find the command pmlogcompress')
  let printed = ''
  const write = (text: string): void => {
    printed += text
  }
  for (let i = 0; i < names.length; i += AT_ONCE) {
    const args = ['-X', compressor.command, ...names.slice(i, i + AT_ONCE)]
    const status = await runProgram(program, args, { cwd: dir, env: asParent(variables), owner, write })
    if (status !== 0) throw new PcpError('EIO', printed.trim() || `pmlogcompress ended with status ${status}`)
  }
}

function withProgram(command: string, program: string, args: string[], env: Variables): Compressor {
  return {
    command,
    async compress(directory, name) {
      let printed = ''
      const write = (text: string): void => {
        printed += text
      }
      const status = await runProgram(program, [...args, name], { cwd: directory, env, write })
      if (status === 0) return
      const details = printed === '' ? '' : `: ${printed.trim()}`
      throw new PcpError('EIO', `${command} ended with status ${status}${details}`)
    },
  }
}
