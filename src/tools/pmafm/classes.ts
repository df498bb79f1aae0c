/** Which commands can work on the archives of a folio, and how. pmafm(1) */

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { decodeText } from '../../base/text.ts'
import { loadConfig, type Variables } from '../../sys/config.ts'
import { hasOwnTree } from '../lib/own-files.ts'

/** Names of commands, by what they can do. */
export interface ToolClasses {
  /** Several archives at a time. */
  readonly multi: ReadonlySet<string>
  /** One archive at a time. */
  readonly single: ReadonlySet<string>
  /** The archive is an operand, where others have an option for it. */
  readonly special: ReadonlySet<string>
  /** Whatever they recorded. */
  readonly replay: ReadonlySet<string>
}

const NAMES = ['MULTI', 'SINGLE', 'SPECIAL', 'REPLAY'] as const
type Name = (typeof NAMES)[number]

/** Data: where no file says otherwise. */
const OURS: Readonly<Record<Name, string>> = {
  MULTI: 'pmdumptext pmie pmstat',
  SINGLE:
    'pcp pmclient pmdumplog pmevent pminfo pmiostat pmlogcheck pmlogdump pmlogsummary pmprobe pmrep pmval',
  SPECIAL: 'pmdumplog pmlogcheck pmlogdump pmlogsummary',
  REPLAY: '',
}

/** The classes of the system's files and the user's, added up; those of this package where there is no file. */
export function toolClasses(env: Variables): ToolClasses {
  const { PCP_VAR_DIR = '/var/lib/pcp' } = loadConfig(env).variables
  const home = env['HOME']
  const own = home === undefined ? [] : [join(home, '.pcp/pmafm')]
  const present = own.filter((folder) => hasOwnTree(folder, 'only your own classes are used'))
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
    return [] // nobody has put classes there
  }
}
