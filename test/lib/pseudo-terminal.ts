/** Commands in a pseudo terminal, which script(1) of util-linux makes. */
import { spawn, spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Is there a script(1) that makes terminals? Tests that need one are skipped without. */
export const hasTerminals: boolean = spawnSync('script', ['--version']).status === 0

/** A command line, and what is typed on its terminal; without that its input is empty. */
export interface TerminalCommand {
  readonly args: readonly string[]
  readonly typed?: string
}

/** How all commands are run. */
export interface TerminalOptions {
  /** Where they run, and where what it takes to run them is written. */
  readonly dir: string
  readonly env: NodeJS.ProcessEnv
  /** Seconds after which a command is ended. */
  readonly limitSec: number
}

/** Ends what one command writes: nothing that a command under test could write. */
const END = '<<end of a command>>'

/**
 * Runs commands one after the other on one terminal. Resolves to the bytes that each of them wrote there, as Latin-1: what a terminal gets,
 * before anything decodes it. The terminal changes nothing (`-opost`).
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
  child.stdin.on('error', () => {}) // nobody has to read what is typed
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
