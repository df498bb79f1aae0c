/**
 * Class policy files: the template of an instance, and the conditions for creating one. pmlogctl(1), CLASS POLICY FILE
 *
 *     [class] NAME   [ident] WORD   [control] lines   [create] conditions   [destroy] (without effect)
 */
import { PcpError } from '../../../model/errors.ts'
import type { Variables } from '../../../sys/config.ts'

/** A policy. Comments and empty lines are removed. */
export interface Policy {
  readonly path: string
  readonly className: string | undefined
  /** Template of the identifier. */
  readonly ident: string
  readonly control: readonly string[]
  /** Undefined without such a section. */
  readonly create: readonly string[] | undefined
}

const SECTION = /^\[(class|ident|control|create|destroy)\]/

/** Parses a policy. Throws EINVAL if the identifier is not one word or the template is missing. */
export function parsePolicy(text: string, path: string): Policy {
  const sections = new Map<string, string[]>()
  let lines: string[] = []
  for (const line of text.split('\n')) {
    const section = SECTION.exec(line)
    if (section === null) {
      if (line.trim() !== '') lines.push(line.trim())
      continue
    }
    lines = sections.get(section[1]!) ?? []
    sections.set(section[1]!, lines)
  }
  const said = (name: string): string[] | undefined =>
    sections.get(name)?.filter((line) => !line.startsWith('#'))
  const words = (name: string): string[] =>
    (said(name) ?? []).flatMap((line) => line.split(/\s+/)).filter((word) => word !== '')
  const ident = words('ident')
  if (ident.length > 1)
    throw new PcpError(
      'EINVAL',
      `[ident] section is invalid in ${path} policy file (expect a single word, not ${ident.length} words)`,
    )
  const control = sections.get('control') ?? []
  if (control.length === 0)
    throw new PcpError('EINVAL', `[control] section is missing from ${path} policy file`)
  return { path, className: words('class')[0], ident: ident[0] ?? '%h', control, create: said('create') }
}

/** Returns the identifier of a host's instance. */
export function identOf(policy: Policy, host: string, variables: Variables): string {
  return expandMacros(policy.ident, { h: host }, variables)
}

/** Values of the macros %h and %i. */
export interface Macros {
  readonly h: string
  readonly i?: string
}

const MACRO = /%([hi])|ENV\(([A-Za-z_]\w*)(?::([^()]*))?\)/g
/** ENV() can return text with macros in it. */
const MAX_ROUNDS = 10

/**
 * Replaces %h, %i, ENV(VARIABLE) and ENV(VARIABLE:DEFAULT) as 7.2 does. Throws EINVAL for an empty variable without default,
 * and for macros that refer to each other.
 */
export function expandMacros(template: string, macros: Macros, variables: Variables): string {
  let text = template
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const next = text.replace(MACRO, (whole, letter: 'h' | 'i' | undefined, name: string, otherwise) => {
      if (letter !== undefined) return macros[letter] ?? whole
      const value = variables[name]
      if (value !== undefined && value !== '') return value
      if (otherwise !== undefined) return otherwise
      throw new PcpError('EINVAL', `${whole} in a policy file: the environment variable ${name} is not set`)
    })
    if (next === text) return text
    text = next
  }
  throw new PcpError('EINVAL', `macros in a policy file refer to each other: ${template}`)
}

/** A new control file. */
export interface NewControl {
  readonly text: string
  /** A missing version line was added. */
  readonly addedVersion: boolean
}

const VERSION_LINES: readonly string[] = ['#DO NOT REMOVE OR EDIT THE FOLLOWING LINE', '$version=1.1']

/** Expands a template to a control file, and adds missing lines. */
export function controlText(
  template: readonly string[],
  { creator, className }: { creator: string; className: string },
  expand: (line: string) => string,
): NewControl {
  const has = (name: string): boolean => template.some((line) => line.startsWith(`$${name}=`))
  const addedVersion = !has('version')
  const lines = [
    creator,
    ...(has('class') ? [] : [`$class=${className}`]),
    ...(addedVersion ? VERSION_LINES : []),
    ...template.map(expand),
  ]
  return { text: `${lines.join('\n')}\n`, addedVersion }
}

/** Returns the built-in policy of the default class. */
export function defaultPolicy(usualLine: string): Policy {
  return {
    path: '',
    className: undefined,
    ident: '%h',
    control: [...VERSION_LINES, usualLine],
    create: undefined,
  }
}
