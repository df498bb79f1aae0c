/** Programs of another account, for tests of what accounts may do to each other. */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

/** Only root may start programs as somebody else. */
export const isRoot: boolean = process.geteuid?.() === 0

/** Says why tests with two accounts are skipped. */
export function explainSkipped(file: string): void {
  if (!isRoot) console.log(`${file}: tests with two accounts need root, and are skipped`)
}

/** Runs a program as user nobody; resolves to what it prints. Rejects as execFile does. */
export async function runAsNobody(program: string, args: readonly string[]): Promise<string> {
  const account = ['--reuid', 'nobody', '--regid', 'nogroup', '--clear-groups', '--']
  const { stdout } = await promisify(execFile)('setpriv', [...account, program, ...args], { cwd: '/' })
  return stdout
}
