/**
 * Class policy files: the template of an instance, and when a new host gets one. pmlogctl(1), CLASS POLICY FILE
 *
 *     [class] NAME   [ident] WORD   [control] lines   [create] conditions   [destroy] (without effect)
 */
import { PcpError } from '../../../model/errors.ts'
import type { Variables } from '../../../sys/config.ts'

/** A policy. Lines are without comments where comments mean nothing, and without empty ones. */
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

/** Reads a policy. Throws EINVAL for an identifier that is not one word, and for a template that is missing. */
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

/** The name that a policy makes for a host. */
export function identOf(policy: Policy, host: string, variables: Variables): string {
  return expandMacros(policy.ident, { h: host }, variables)
}

/** What the macros stand for. */
export interface Macros {
  readonly h: string
  readonly i?: string
}

const MACRO = /%([hi])|ENV\(([A-Za-z_]\w*)(?::([^()]*))?\)/g
/** ENV() may give text with macros in it. */
const MAX_ROUNDS = 10

/**
 * Replaces %h, %i, ENV(VARIABLE) and ENV(VARIABLE:DEFAULT) as 7.2 does. EINVAL for a variable that is empty and has no default,
 * and for macros that lead to each other.
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
  throw new PcpError('EINVAL', `macros in a policy file lead to each other: ${template}`)
}

/** A new control file, and what a user may want to know of it. */
export interface NewControl {
  readonly text: string
  /** It lacked a version, and was given one. */
  readonly addedVersion: boolean
}

const VERSION_LINES: readonly string[] = ['#DO NOT REMOVE OR EDIT THE FOLLOWING LINE', '$version=1.1']

/** The control file of an instance: the lines of the template, and what they lack. */
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

/** What a class without a file of its own has: only the default class may. */
export function defaultPolicy(usualLine: string): Policy {
  return {
    path: '',
    className: undefined,
    ident: '%h',
    control: [...VERSION_LINES, usualLine],
    create: undefined,
  }
}
