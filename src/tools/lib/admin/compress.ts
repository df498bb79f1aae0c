/** Programs that compress archive files. */
import { type Compressor, GZIP } from '../../../archive-store/compress.ts'
import { PcpError } from '../../../model/errors.ts'
import type { Variables } from '../../../sys/config.ts'
import { asParent } from '../../../sys/parent-process.ts'
import type { Owner } from './owner.ts'
import { findProgram, runProgram } from './programs.ts'
import { splitWords } from './shell-words.ts'

/** Defaults in order of preference: the first that is installed is used. */
const PREFERRED = ['xz -0 --block-size=10MiB', 'zstd -q --rm', 'gzip'] as const

/** Program and options by file suffix. Without the options it prompts, keeps its input, or uses another suffix. */
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

/** Finds the compressor that writes files with a suffix; undefined if its program is not installed. */
export function compressorOfSuffix(suffix: string, variables: Variables): Compressor | undefined {
  const command = PROGRAM_OF_SUFFIX[suffix]
  const found = command === undefined ? undefined : compressorFor(command, variables)
  return found ?? (suffix === '.gz' ? GZIP : undefined)
}

/** Files given to one run of the command, as the length of a command line is limited. */
const AT_ONCE = 200

/** Compresses files of a directory with pmlogcompress, running as their owner. Rejects with EIO and its output. */
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
