/** Configurations that pmlogconf and pmieconf make and bring up to date; those that people write are left alone. */
import { readFileSync, statSync } from 'node:fs'
import { dirname, isAbsolute, join } from 'node:path'
import type { Instance } from './instances.ts'
import { type Owner, ownerToActFor } from './owner.ts'
import { findProgram, runProgram } from './programs.ts'
import type { Voice } from './voice.ts'

/** Who makes a configuration. */
export interface Generator {
  readonly program: 'pmlogconf' | 'pmieconf'
  /** Below `$PCP_VAR_DIR/config`, where configurations without a directory are looked for. */
  readonly folder: string
  readonly args: (path: string, host: string) => readonly string[]
}

/** The configuration that `-c` of an instance names, as a path; undefined without one. */
export function configPath({ args, variables }: Instance, dir: string, folder: string): string | undefined {
  const at = args.findIndex((arg) => arg === '-c' || arg === '--config' || /^(?:-c.|--config=)/.test(arg))
  if (at === -1) return undefined
  const name = /^(?:-c|--config)$/.test(args[at]!) ? args[at + 1] : args[at]!.replace(/^(?:--config=|-c)/, '')
  if (name === undefined || isAbsolute(name)) return name
  if (name.includes('/') || isFile(join(dir, name))) return join(dir, name)
  return join(variables['PCP_VAR_DIR'] ?? '', 'config', folder, name)
}

/** Makes a configuration that is not there, and brings one up to date that its generator has made. */
export async function refreshConfig(
  instance: Instance,
  { dir, generator, voice }: { dir: string; generator: Generator; voice: Voice },
): Promise<void> {
  const { program, folder, args } = generator
  const { variables, where } = instance
  if (variables['PMLOGGER_CHECK_SKIP_LOGCONF'] === 'yes' && program === 'pmlogconf') return
  const path = configPath(instance, dir, folder)
  if (path === undefined) return
  if (!isGenerated(path, program)) {
    voice.tell(1, `No reconfigure: ${path} (not by ${program})`)
    return
  }
  const command = findProgram(program, variables)
  const list = args(path, instance.host)
  if (voice.showsOnly) {
    voice.show([command ?? program, ...list].join(' '))
    return
  }
  if (command === undefined) {
    voice.warning(where, `cannot make ${path}: there is no command ${program}`)
    return
  }
  let said = ''
  const write = (text: string): void => {
    said += text
  }
  const status = await runProgram(command, list, { cwd: dir, env: variables, owner: ownerOf(path), write })
  if (status === 0) voice.tell(1, `Reconfigured: ${path} (${program})`)
  else
    voice.warning(
      where,
      `${program} ended with status ${status} for ${path}${said === '' ? '' : `: ${said.trim()}`}`,
    )
}

/** Whom root makes a configuration as; where there is no directory for it the command itself says so. */
function ownerOf(path: string): Owner | undefined {
  const dir = dirname(path)
  return statSync(dir, { throwIfNoEntry: false }) === undefined ? undefined : ownerToActFor(dir)
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true
}

/** What is missing or empty may be made, too. */
function isGenerated(path: string, program: string): boolean {
  if (!isFile(path) || statSync(path).size === 0) return true
  const text = readFileSync(path, 'utf8')
  if (program === 'pmieconf') return /^\/\/ pmieconf-pmie /m.test(text)
  return text.startsWith('#pmlogconf')
}
