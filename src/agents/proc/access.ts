/** Which authenticated users may see processes: access.conf in the directory proc of PCP_SYSCONF_DIR. docs/reference/agents/proc.md */
import { statSync } from 'node:fs'
import { PcpError } from '../../model/errors.ts'
import type { AgentEnv } from '../../pmda/define.ts'
import { readSmallFile, rooted } from '../../sys/proc.ts'

/** Contents of the file. */
export interface AccessRules {
  /** Names of users with the same access as root. */
  readonly allowed: ReadonlySet<string>
  /** Users have the access of the accounts of the same name on this host. */
  readonly isMapped: boolean
}

const NO_RULES: AccessRules = { allowed: new Set(), isMapped: false }

/** Parses `allowed: ann, bob` and `mapped: true`, with # comments. PM_ERR_GENERIC names an invalid line. */
export function parseAccess(text: string): AccessRules {
  const allowed = new Set<string>()
  let isMapped = false
  for (const [i, whole] of text.split('\n').entries()) {
    const line = whole.replace(/#.*/, '').trim()
    if (line === '') continue
    const [, word, value = ''] = /^(\w+)\s*[:=]\s*(.*)$/.exec(line) ?? []
    if (word === 'allowed') {
      for (const name of value.split(/[\s,]+/)) if (name !== '') allowed.add(name)
    } else if (word === 'mapped' && /^(true|false)$/i.test(value)) isMapped = value.toLowerCase() === 'true'
    else
      throw new PcpError(
        'PM_ERR_GENERIC',
        `line ${i + 1}: "${line}" is neither allowed: NAMES nor mapped: true`,
      )
  }
  return { allowed, isMapped }
}

/** The file, read again when it changes. */
export class AccessFile {
  readonly #env: AgentEnv
  readonly #path: string
  #rules = NO_RULES
  #version = ''

  constructor(env: AgentEnv) {
    this.#env = env
    this.#path = `${env.env['PCP_SYSCONF_DIR'] ?? '/etc/pcp'}/proc/access.conf`
  }

  /** Returns the current rules: none if the file is invalid or world-writable. */
  rules(): AccessRules {
    const found = statSync(rooted(this.#env.root, this.#path), { throwIfNoEntry: false })
    const version = found === undefined ? '' : `${found.ino} ${found.ctimeMs} ${found.size} ${found.mode}`
    if (version === this.#version) return this.#rules
    this.#version = version
    this.#rules = found === undefined ? NO_RULES : this.#read(found.mode)
    return this.#rules
  }

  #read(mode: number): AccessRules {
    const { log, root } = this.#env
    if ((mode & 0o002) !== 0) {
      log('warning', `${this.#path} is world-writable and therefore ignored: chmod o-w`)
      return NO_RULES
    }
    try {
      return parseAccess(readSmallFile(root, this.#path))
    } catch (error) {
      log('error', `${this.#path}: ${PcpError.from(error).message}`)
      return NO_RULES
    }
  }
}
