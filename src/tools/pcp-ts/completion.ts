/** pcp-ts completion: prints the completion of a shell, or puts it where the shell looks for it. docs/how-to/install.md */
import { closeSync, lstatSync, openSync, readFileSync, readSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { PcpError } from '../../model/errors.ts'
import { userDirs, type Variables } from '../../sys/config.ts'
import { makeDir } from '../../sys/make-dir.ts'
import { replaceFile } from '../../sys/replace-file.ts'
import { HELP_ROW, type OptionTable, parseOptions, VERSION_ROW } from '../lib/options.ts'
import { ownBinDir } from '../lib/own-program.ts'
import { handleSubcommandExit } from '../lib/subcommand.ts'
import type { Tool, ToolIo } from '../lib/tool.ts'
import { classicNames } from './list.ts'

/** In every installed file; only files with it are replaced or removed. */
const MARK = 'installed by pcp-ts completion'
/** Longer than the part of a file before the mark. */
const MARK_BYTES = 8192

/** How a shell completes. */
interface Shell {
  /** The file below dist/completion. */
  readonly file: string
  /** Returns the directory that the shell searches. */
  dir(env: Variables): string
  /** Returns the files to install: names to contents. They load what `pcp-ts` on the PATH prints, so an upgrade needs no new files. */
  files(names: readonly string[]): ReadonlyMap<string, string>
  /** Returns what the user has to do. */
  advice(dir: string): string
}

const SHELLS: Readonly<Record<string, Shell>> = {
  bash: {
    file: 'bash/pcp-ts',
    dir: (env) => {
      const own = env['BASH_COMPLETION_USER_DIR']
      return join(own?.startsWith('/') ? own : join(userDirs(env).data, 'bash-completion'), 'completions')
    },
    files: (names) => new Map(['pcp-ts', ...names].map((name) => [name, BASH_STUB])),
    advice: (dir) =>
      `New shells read it if the package bash-completion is installed; otherwise add to ~/.bashrc: . ${dir}/pcp-ts`,
  },
  zsh: {
    file: 'zsh/_pcp-ts',
    dir: (env) => join(userDirs(env).data, 'zsh', 'site-functions'),
    files: (names) => new Map([['_pcp-ts', zshStub(names)]]),
    advice: (dir) => `Add to ~/.zshrc, before compinit: fpath=(${dir} $fpath)`,
  },
  fish: {
    file: 'fish/pcp-ts.fish',
    dir: (env) => join(userDirs(env).config, 'fish', 'completions'),
    files: (names) => new Map(['pcp-ts', ...names].map((name) => [`${name}.fish`, FISH_STUB])),
    advice: () => 'New shells read it.',
  },
}

/** For a name that is not ours it fails: bash-completion then looks for the file of an installed PCP. */
const BASH_STUB = `# Completion of pcp-ts and its commands, ${MARK}.
if declare -F _pcp_register >/dev/null; then
  _pcp_register
else
  type -P pcp-ts >/dev/null || return 1
  . <(pcp-ts completion bash)
fi
[[ $(complete -p "\${BASH_SOURCE[0]##*/}" 2>/dev/null) == *' _pcp '* ]]
`

const zshStub = (names: readonly string[]): string => `#compdef pcp-ts ${names.join(' ')}
# Completion of pcp-ts and its commands, ${MARK}.
(( $+commands[pcp-ts] )) || { _default; return }
(( $+functions[_pcp_ts_all] )) || eval "_pcp_ts_all() {
$(pcp-ts completion zsh 2>/dev/null)
}"
_pcp_ts_all "$@"
`

const FISH_STUB = `# Completion of pcp-ts and its commands, ${MARK}.
functions -q __pcp_metrics; or begin
    command -q pcp-ts; and pcp-ts completion fish | source
end
`

const OPTIONS: OptionTable = {
  synopsis: '[options] bash|zsh|fish',
  operands: 'none',
  rows: [
    { short: 'i', long: 'install', help: 'put it where the shell looks for it in the home directory' },
    { short: 'u', long: 'uninstall', help: 'remove what --install has written' },
    VERSION_ROW,
    HELP_ROW,
  ],
}

/** Prints, installs or removes completion. */
export const tool: Tool = {
  name: 'pcp-ts-completion',
  summary: 'Complete command lines in bash, zsh or fish',
  description: `
Prints the completion of a shell: of pcp-ts with its subcommands, of every command run through it, and of names that run the command of this
package. Names that run an installed PCP's program keep their own completion.

--install writes small files that load it when it is first needed, so that an upgrade needs no new files, and prints what the shell still needs.
Files of others are never changed.`,
  examples: [
    ['pcp-ts completion bash --install', 'For new shells of this user:'],
    ['. <(pcp-ts completion bash)', 'For the running bash only:'],
  ],
  environment: [
    ['XDG_DATA_HOME', 'where bash and zsh look for it (default ~/.local/share)'],
    ['XDG_CONFIG_HOME', 'where fish looks for it (default ~/.config)'],
    ['BASH_COMPLETION_USER_DIR', "the directory of bash-completion's own files"],
  ],
  seeAlso: ['pcp-ts', 'pcp-ts-link'],
  options: OPTIONS,
  async run(io) {
    const parsed = parseOptions(OPTIONS, io)
    const [name, ...others] = parsed.operands
    if (others.length > 0) parsed.problems.push('Too many names of shells')
    const status = handleSubcommandExit(OPTIONS, parsed, io)
    if (status !== undefined) return status
    const shell = name === undefined || !Object.hasOwn(SHELLS, name) ? undefined : SHELLS[name]
    if (shell === undefined) throw new PcpError('EINVAL', `Name a shell: ${Object.keys(SHELLS).join(', ')}`)
    const has = (letter: string): boolean => parsed.given.some((each) => each.name === letter)
    if (has('i') && has('u')) throw new PcpError('EINVAL', 'Either --install or --uninstall')
    if (!has('i') && !has('u')) {
      io.stdout.write(completionText(shell))
      return 0
    }
    const dir = shell.dir(io.env)
    const files = shell.files(classicNames((await io.commands?.()) ?? []))
    try {
      return has('i') ? install(shell, dir, files, io) : uninstall(dir, files, io)
    } catch (error) {
      throw PcpError.from(error, `Cannot change the completion files in ${dir}`)
    }
  },
}

function completionText({ file }: Shell): string {
  const path = join(dirname(ownBinDir()), 'dist', 'completion', file)
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw PcpError.from(error, `Cannot read ${path}, which is part of the package; install pcp-ts again`)
  }
}

function install(shell: Shell, dir: string, files: ReadonlyMap<string, string>, io: ToolIo): number {
  makeDir(dir)
  let keptCount = 0
  for (const [name, text] of files) {
    const path = join(dir, name)
    if (isOthers(path)) {
      keptCount++
      io.stderr.write(`${io.progname}: ${path} is not of this package: kept\n`)
    } else replaceFile(path, text)
  }
  io.stdout.write(`Installed in ${dir}\n${shell.advice(dir)}\n`)
  return keptCount > 0 ? 1 : 0
}

function uninstall(dir: string, files: ReadonlyMap<string, string>, io: ToolIo): number {
  let count = 0
  for (const name of files.keys()) {
    const path = join(dir, name)
    if (lstatSync(path, { throwIfNoEntry: false }) === undefined || isOthers(path)) continue
    rmSync(path)
    count++
  }
  io.stdout.write(`Removed ${count === 1 ? '1 file' : `${count} files`} from ${dir}\n`)
  return 0
}

/** Is this a file of someone else? Links and special files are. */
function isOthers(path: string): boolean {
  const stats = lstatSync(path, { throwIfNoEntry: false })
  if (stats === undefined) return false
  if (!stats.isFile()) return true
  const fd = openSync(path, 'r')
  try {
    const head = Buffer.alloc(MARK_BYTES)
    return !head.toString('utf8', 0, readSync(fd, head)).includes(MARK)
  } finally {
    closeSync(fd)
  }
}
