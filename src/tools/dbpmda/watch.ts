/** A window that follows a file. */

/** Opens a terminal (xterm) in which a file is shown as it grows; it outlives this process. `complain` hears why not. */
export async function watchFile(file: string, complain: (text: string) => Promise<void>): Promise<void> {
  const { spawn } = process.getBuiltinModule('node:child_process')
  const child = spawn('xterm', ['-title', file, '-e', 'tail', '-f', file], {
    stdio: 'ignore',
    detached: true,
  })
  const problem = await new Promise<Error | undefined>((resolve) => {
    child.once('spawn', () => resolve(undefined))
    child.once('error', resolve)
  })
  if (problem === undefined) child.unref()
  else await complain(`Error: watch needs xterm, which cannot be started: ${problem.message}`)
}
