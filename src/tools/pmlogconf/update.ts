/** Updates the groups of a configuration. pmlogconf(1) */
import type { Context } from '../../pmapi/context.ts'
import type { ToolIo } from '../lib/tool.ts'
import { type Choice, type Entry, entryHead, entryOf } from './config-file.ts'
import type { Prompts } from './dialogue.ts'
import type { Group, State } from './group-file.ts'
import type { Groups } from './group-sources.ts'
import { type Probed, probeGroup } from './probe.ts'

/** Options of an update. */
export interface UpdateOptions {
  /** Prompts for each group; undefined for no prompts. */
  readonly dialogue: Prompts | undefined
  /** Probe existing groups again. */
  readonly reprobes: boolean
  /** Remove groups without a group file. */
  readonly drops: boolean
  readonly isVerbose: boolean
  /** Print a dot for each group without a prompt. */
  readonly showsProgress: boolean
}

/** Default choice by state. */
export const CHOICES: Readonly<Record<State, Choice>> = { include: 'y', available: 'n', exclude: 'x' }

/** Formats the result of a probe. */
export function probeText({ rule }: Group, { state, isTrue }: Probed): string {
  if (rule.kind === 'force') return `${rule.state} -> action=${state}\n`
  return `${rule.text} -> probe=${isTrue === true ? 'success' : 'failure'} action=${state}\n`
}

/** Returns existing and new groups, sorted by tag. */
export async function update(
  old: readonly Entry[],
  { dir, groups, problems }: Groups,
  context: Context,
  manner: UpdateOptions,
  io: ToolIo,
): Promise<Entry[]> {
  const { dialogue, showsProgress, drops } = manner
  const entries: Entry[] = []
  const add = async (tag: string, group: Group, before: Entry | undefined): Promise<void> => {
    const decided = await decide(`${dir}/${tag}`, group, before, context, manner, io)
    const question = { ...decided, tag, ident: group.ident, metrics: group.metrics }
    const isOpen = decided.choice !== 'x' && group.rule.kind === 'probe'
    const wasQuiet = dialogue === undefined || dialogue.hasQuit
    const answer = isOpen ? await dialogue?.ask(question) : undefined
    if (wasQuiet && showsProgress && (before ?? decided).choice !== 'x') io.stdout.write('.')
    const { choice, delta } = answer ?? decided
    entries.push(entryOf(tag, choice, delta, group))
  }
  for (const entry of old) {
    const group = groups.get(entry.tag)
    if (group !== undefined) await add(entry.tag, group, entry)
    else {
      const action = drops ? 'deleting obsolete group' : 'no change is possible'
      io.stderr.write(`${io.progname}: Warning: cannot find group file (${entry.tag}): ${action}\n`)
      if (!drops) entries.push(entry)
    }
  }
  const known = new Set(old.map(({ tag }) => tag))
  for (const [tag, group] of groups)
    if (!known.has(tag) && !problems.has(tag)) await add(tag, group, undefined)
  return entries.sort(byTag)
}

function byTag(a: Entry, b: Entry): number {
  return a.tag < b.tag ? -1 : a.tag > b.tag ? 1 : 0
}

/** Returns the existing choice; for a new group and with -r, probes. */
async function decide(
  path: string,
  group: Group,
  before: Entry | undefined,
  context: Context,
  { reprobes, isVerbose }: UpdateOptions,
  io: ToolIo,
): Promise<{ readonly choice: Choice; readonly delta: string }> {
  if (before !== undefined && !reprobes) return before
  const probed = await probeGroup(group, context)
  // Keeps an interval the user chose.
  const delta = before !== undefined && before.choice === 'y' ? before.delta : group.delta
  const decided = { choice: CHOICES[probed.state], delta }
  if (isVerbose)
    io.stdout.write(`${path}:\n${probeText(group, probed)}${entryHead({ tag: path, ...decided })}\n`)
  return decided
}
