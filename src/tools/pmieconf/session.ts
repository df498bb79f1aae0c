/** The commands of pmieconf. docs/reference/pmie.md */
import { PcpError } from '../../model/errors.ts'
import { setChange } from './config-file.ts'
import type { GeneralRule, RuleSet } from './rule-file.ts'
import {
  type Changes,
  checkValue,
  ENABLED,
  GLOBAL,
  isEnabled,
  type SeenVariable,
  seenBy,
  shownValue,
} from './settings.ts'

/** Commands with arguments and descriptions, in the order of their numbers. */
export const COMMANDS: readonly (readonly [name: string, takes: string, what: string])[] = [
  ['help', '[ { . | all | global | <rule> | <group> } [<variable>] ]', 'explain rules or variables'],
  ['rules', '[ enabled | disabled ]', 'list all, enabled or disabled rules'],
  ['groups', '', 'list the groups of rules'],
  ['status', '', 'show the settings and their file'],
  ['enable', '{ . | all | <rule> | <group> }', 'enable rules'],
  ['disable', '{ . | all | <rule> | <group> }', 'disable rules'],
  ['list', '{ . | all | global | <rule> | <group> } [<variable>]', 'show the variables of rules'],
  ['modify', '{ . | all | global | <rule> | <group> } <variable> <value>', 'change a variable'],
  ['undo', '{ . | all | global | <rule> | <group> } [<variable>]', 'undo changes'],
  ['verbose', '[ { on | off } ]', 'list global variables with those of a rule, marked with *'],
  ['quit', '', 'save changes and exit'],
  ['abort', '', 'exit without saving'],
]

/** State of a session. */
export interface SessionState {
  readonly set: RuleSet
  readonly changes: Changes
  readonly configName: string
  isVerbose: boolean
  /** Rules of the last command, for `.`. */
  last: readonly Target[]
  isChanged: boolean
}

/** A rule, or the global variables. */
export type Target = GeneralRule | typeof GLOBAL

/** How to continue after a command. */
export type Outcome = 'goOn' | 'quit' | 'abort'

/** Runs a command; its words may be abbreviated. Throws PcpError with PCP's message. */
export function runCommand(
  words: readonly string[],
  state: SessionState,
  write: (text: string) => void,
): Outcome {
  const [word = '', ...args] = words
  const name = COMMANDS.find(([command], i) => command.startsWith(word) || word === String(i + 1))?.[0]
  switch (name) {
    case 'help':
      write(args.length === 0 ? commandHelp() : helpText(targets(args[0]!, state), args[1], state))
      return 'goOn'
    case 'rules':
      write(ruleList(args[0], state))
      return 'goOn'
    case 'groups':
      write([...new Set(state.set.rules.map(groupOf))].map((group) => `  ${group}\n`).join(''))
      return 'goOn'
    case 'status':
      write(statusText(state))
      return 'goOn'
    case 'enable':
    case 'disable':
      switchRules(required(args[0], name), name === 'enable', state)
      return 'goOn'
    case 'list':
      write(listText(targets(required(args[0], name), state), args[1], state))
      return 'goOn'
    case 'modify':
      modify(targets(required(args[0], name), state), args, state)
      return 'goOn'
    case 'undo':
      undo(targets(required(args[0], name), state), args[1], state)
      return 'goOn'
    case 'verbose':
      if (args[0] === undefined) write(`  verbose:  ${state.isVerbose ? 'on' : 'off'}\n`)
      else state.isVerbose = args[0] === 'on'
      return 'goOn'
    case 'quit':
    case 'abort':
      return name
    default:
      throw new PcpError('EINVAL', `error - unrecognised command "${word}" - try "help"`)
  }
}

function required(arg: string | undefined, command: string): string {
  if (arg === undefined)
    throw new PcpError('EINVAL', `error - ${command} command needs a rule, a group or "all" - try "help"`)
  return arg
}

/** Returns the numbered list of commands. */
export function commandHelp(): string {
  return COMMANDS.map(([name, takes, what], i) => {
    const head = ` ${String(i + 1).padStart(2)}. ${name}`
    return takes === '' ? `${head.padEnd(15)}${what}\n` : `${head}  ${takes}\n${' '.repeat(15)}${what}\n`
  }).join('')
}

function groupOf({ name }: GeneralRule): string {
  return name.slice(0, name.indexOf('.'))
}

function targets(name: string, state: SessionState): readonly Target[] {
  const found = findTargets(name, state)
  state.last = found
  return found
}

function findTargets(name: string, { set, last }: SessionState): readonly Target[] {
  if (name === GLOBAL) return [GLOBAL]
  if (name === 'all') return set.rules
  if (name === '.' && last.length > 0) return last
  const found = set.rules.filter((rule) => rule.name === name || groupOf(rule) === name)
  if (found.length > 0) return found
  throw new PcpError('EINVAL', `error - no group or rule names match "${name}"`)
}

function ruleOf(target: Target): GeneralRule | undefined {
  return target === GLOBAL ? undefined : target
}

function nameOf(target: Target): string {
  return target === GLOBAL ? GLOBAL : target.name
}

/** Returns a rule's name with its description. */
function heading(target: Target, { set, changes }: SessionState): string {
  if (target === GLOBAL) return `  rule: ${GLOBAL}  [variables of all rules]\n`
  const about = seenBy(target, set, changes).find(({ variable }) => variable.name === 'rule')?.value
  return `  rule: ${target.name}  [${target.value.replace('$rule$', about ?? '')}]\n`
}

function ruleList(which: string | undefined, state: SessionState): string {
  if (which !== undefined && which !== 'enabled' && which !== 'disabled')
    throw new PcpError('EINVAL', `error - unrecognised argument "${which}" - try "help"`)
  return state.set.rules
    .filter((rule) => which === undefined || isEnabled(rule, state.changes) === (which === 'enabled'))
    .map((rule) => heading(rule, state).replace('  rule: ', '  '))
    .join('')
}

function statusText({ set, changes, configName, isVerbose }: SessionState): string {
  const enabled = set.rules.filter((rule) => isEnabled(rule, changes)).length
  return (
    `  verbose:  ${isVerbose ? 'on' : 'off'}\n` +
    `  enabled rules:  ${enabled} of ${set.rules.length}\n` +
    `  pmie configuration file:  ${configName}\n` +
    '  pmie processes (PIDs) using this file:  (none found)\n'
  )
}

function indented(label: string, text: string): string {
  return text === '' ? '' : `${label.padStart(6)}: ${text.split('\n').join('\n\t')}\n`
}

const ABOUT_GLOBAL =
  'Global variables, used by all rules. A rule, or a group of rules, may override their values.'

/** Returns a help text without empty lines between paragraphs. */
function helpOf(target: Target): string {
  return target === GLOBAL ? ABOUT_GLOBAL : target.help.replace(/\n{2,}/g, '\n')
}

function helpText(found: readonly Target[], variable: string | undefined, state: SessionState): string {
  return found
    .map((target) => {
      const head = heading(target, state)
      if (variable === undefined) return head + indented('help', helpOf(target))
      const seen = findVariable(target, variable, state)
      return `${head}${indented('var', variable)}${indented('help', seen?.variable.help ?? '')}`
    })
    .join('\n')
}

/** Finds a variable of a rule; undefined for `enabled`. Throws PcpError for unknown names. */
function findVariable(
  target: Target,
  name: string,
  { set, changes }: SessionState,
): SeenVariable | undefined {
  if (name === ENABLED && target !== GLOBAL) return undefined
  const seen = seenBy(ruleOf(target), set, changes).find(({ variable }) => variable.name === name)
  if (seen === undefined)
    throw new PcpError('EINVAL', `error - variable "${name}" is undefined for rule ${nameOf(target)}`)
  return seen
}

function listText(found: readonly Target[], name: string | undefined, state: SessionState): string {
  const texts = found.map((target) => {
    if (name === undefined) return heading(target, state) + allOf(target, state)
    if (name === 'predicate' && target !== GLOBAL) return heading(target, state) + predicateText(target)
    return `${heading(target, state)}\t${variableText(target, name, state)}\n`
  })
  return texts.join(name === undefined ? '\n' : '')
}

function variableText(target: Target, name: string, state: SessionState): string {
  const seen = findVariable(target, name, state)
  if (seen === undefined)
    return `${ENABLED} = ${isEnabled(target as GeneralRule, state.changes) ? 'yes' : 'no'}`
  return `${name} = ${shownValue(seen.variable, seen.value)}`
}

function predicateText({ predicate }: GeneralRule): string {
  const lines = predicate.split('\n').map((line) => `\t  ${line}\n`)
  return `\tpredicate = \n${lines.join('')}`
}

function allOf(target: Target, state: SessionState): string {
  const { set, changes, isVerbose } = state
  const lines = target === GLOBAL ? [] : [`${ENABLED} = ${isEnabled(target, changes) ? 'yes' : 'no'}`]
  for (const { variable, value, isGlobal } of seenBy(ruleOf(target), set, changes)) {
    if (!variable.isShown || (isGlobal && !isVerbose)) continue
    lines.push(`${variable.name} = ${shownValue(variable, value)}${isGlobal ? ' (*)' : ''}`)
  }
  const predicate = target === GLOBAL ? '' : predicateText(target)
  return indented('help', helpOf(target)) + predicate + indented('vars', lines.join('\n'))
}

function switchRules(name: string, isOn: boolean, state: SessionState): void {
  if (name === GLOBAL) throw new PcpError('EINVAL', `error - invalid argument - "${name}"`)
  for (const target of targets(name, state))
    setChange(state.changes, nameOf(target), ENABLED, isOn ? 'yes' : 'no')
  state.isChanged = true
}

/** Attributes of rules that are not variables. */
const READ_ONLY: ReadonlySet<string> = new Set([
  ...['predicate', 'help', 'version', 'enumerate', 'summary', 'display', 'modify'],
])

function modify(found: readonly Target[], [, name, ...rest]: readonly string[], state: SessionState): void {
  if (name === undefined || rest.length === 0)
    throw new PcpError('EINVAL', 'error - modify command needs a variable and a value - try "help"')
  for (const target of found) {
    if (READ_ONLY.has(name))
      throw new PcpError('EINVAL', `error - no change - variable "${name}" is always readonly`)
    const seen = findVariable(target, name, state)
    setChange(state.changes, nameOf(target), name, checkValue(seen?.variable, name, rest.join(' ')))
    state.isChanged = true
  }
}

function undo(found: readonly Target[], name: string | undefined, state: SessionState): void {
  for (const target of found) {
    if (name === undefined) state.changes.delete(nameOf(target))
    else {
      findVariable(target, name, state)
      state.changes.get(nameOf(target))?.delete(name)
    }
  }
  state.isChanged = true
}
