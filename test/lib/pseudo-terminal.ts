/** Runs commands in a pseudo terminal, using script(1) of util-linux. */
import { spawn, spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** True if script(1) is available; tests that need a terminal are skipped otherwise. */
export const hasTerminals: boolean = spawnSync('script', ['--version']).status === 0

/** A command line and its typed input; without that, its input is empty. */
export interface TerminalCommand {
  readonly args: readonly string[]
  readonly typed?: string
}

/** Options for all commands. */
export interface TerminalOptions {
  /** Working directory, also for helper files. */
  readonly dir: string
  readonly env: NodeJS.ProcessEnv
  /** Seconds after which a command is killed. */
  readonly limitSec: number
}

/** Separates the output of commands; no command under test writes it. */
const END = '<<end of a command>>'

/**
 * Runs commands in sequence on one terminal. Resolves to the bytes that each wrote, as Latin-1, before any decoding. The
 * terminal does not process output (`-opost`).
 */
export async function onTerminal(
  commands: readonly TerminalCommand[],
  { dir, env, limitSec }: TerminalOptions,
): Promise<readonly string[]> {
  const lines = commands.map(({ args, typed }) => {
    const command = `timeout --foreground -k 1 ${limitSec} ${args.map(quoted).join(' ')}`
    return `${command}${typed === undefined ? ' </dev/null' : ''}; printf '%s' '${END}'`
  })
  const file = join(dir, `commands-${process.pid}-${counter++}`)
  writeFileSync(file, `stty -opost -echo rows 50 cols 200\n${lines.join('\n')}\n`)
  const child = spawn('script', ['-qec', `sh ${file}`, '/dev/null'], {
    cwd: dir,
    env,
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  child.stdin.on('error', () => {}) // the command need not read its input
  const chunks: Buffer[] = []
  child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk))
  child.stdin.write(commands.map(({ typed = '' }) => typed).join(''))
  await new Promise((resolve) => child.once('close', resolve))
  return Buffer.concat(chunks).toString('latin1').split(END).slice(0, -1)
}

let counter = 0

function quoted(arg: string): string {
  return `'${arg.replaceAll("'", "'\\''")}'`
}
