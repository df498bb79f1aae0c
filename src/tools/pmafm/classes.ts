/** Classes of commands that can work on archives of a folio. pmafm(1) */

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { decodeText } from '../../base/text.ts'
import { loadConfig, type Variables } from '../../sys/config.ts'
import { hasTrustedDir } from '../lib/trusted-files.ts'

/** Names of commands by capability. */
export interface ToolClasses {
  /** Commands that take several archives. */
  readonly multi: ReadonlySet<string>
  /** Commands that take one archive. */
  readonly single: ReadonlySet<string>
  /** Commands that take the archive as an operand instead of an option. */
  readonly special: ReadonlySet<string>
  /** Commands that can replay any folio. */
  readonly replay: ReadonlySet<string>
}

const NAMES = ['MULTI', 'SINGLE', 'SPECIAL', 'REPLAY'] as const
type Name = (typeof NAMES)[number]

/** Classes if no file defines them. */
const OURS: Readonly<Record<Name, string>> = {
  MULTI: 'pmdumptext pmie pmstat',
  SINGLE:
    'pcp pmclient pmdumplog pmevent pminfo pmiostat pmlogcheck pmlogdump pmlogsummary pmprobe pmrep pmval',
  SPECIAL: 'pmdumplog pmlogcheck pmlogdump pmlogsummary',
  REPLAY: '',
}

/** Merges the classes of the system's and the user's files; without a file uses those of this package. */
export function toolClasses(env: Variables): ToolClasses {
  const { PCP_VAR_DIR = '/var/lib/pcp' } = loadConfig(env).variables
  const home = env['HOME']
  const own = home === undefined ? [] : [join(home, '.pcp/pmafm')]
  const present = own.filter((folder) => hasTrustedDir(folder, 'only your own classes are used'))
  const folders = [join(PCP_VAR_DIR, 'config/pmafm'), ...present]
  const texts = folders.map(textsIn)
  const words = new Map<Name, Set<string>>(NAMES.map((name) => [name, new Set()]))
  const add = (name: Name, text: string): void => {
    for (const word of text.split(/\s+/)) if (word !== '' && !word.startsWith('$')) words.get(name)!.add(word)
  }
  if (texts[0]!.length === 0) for (const name of NAMES) add(name, OURS[name])
  for (const text of texts.flat())
    for (const [, name, quoted, plain] of text.matchAll(/^\s*([A-Z]+)=(?:"([^"]*)"|'[^']*'|(\S*))/gm))
      if (words.has(name as Name)) add(name as Name, quoted ?? plain ?? '')
  const of = (name: Name): ReadonlySet<string> => words.get(name)!
  return { multi: of('MULTI'), single: of('SINGLE'), special: of('SPECIAL'), replay: of('REPLAY') }
}

function textsIn(folder: string): string[] {
  try {
    return readdirSync(folder)
      .sort()
      .map((name) => decodeText(readFileSync(join(folder, name))))
  } catch {
    return [] // no classes in this folder
  }
}
