/** Lines of pmie about rules, for intended differences in some of them. */
import type { Both } from './both-sides.ts'

/** Returns only the first value if that is all the reference shows. */
export function firstOf(mine: string, other: string): string {
  return mine.startsWith(`${other} `) ? other : mine
}

/** Returns the reference's text if it is unknown there, else ours. */
export function knownOf(mine: string, other: string): string {
  const cells = other.split(' ')
  const own = mine.split(' ')
  const agrees =
    cells.length === own.length && cells.every((cell, i) => cell === 'unknown' || cell === own[i])
  return agrees ? other : mine
}

/** Returns the names of rules in a line's words whose text matches. */
export function rulesWith(words: readonly string[], pattern: RegExp): ReadonlySet<string> {
  const names = new Set<string>()
  for (const [, name = '', text = ''] of words.join('\n').matchAll(/^(?:.*<<)?(r\d+) = (.*);$/gm))
    if (pattern.test(text)) names.add(name)
  return names
}

/** Removes lines about rules that the other text does not have. */
export function withoutRulesBut(text: string, other: string): string {
  const kept = new Set(other.match(/^r\d+(?= \()/gm))
  const lines = text
    .split('\n')
    .filter((line) => kept.has(/^r\d+(?= \()/.exec(line)?.[0] ?? '') || !/^r\d/.test(line))
  return kept.size === 0 ? other : lines.join('\n')
}

/** Changes the results of some pmie rules line by line, if both sides have the same number; `change` also gets the reference's. */
export function onRules(
  { ours, theirs }: Both,
  names: ReadonlySet<string>,
  change: (mine: string, other: string) => string,
): Both {
  const mine = ours.stdout.split('\n')
  const others = theirs.stdout.split('\n')
  if (names.size === 0 || mine.length !== others.length) return { ours, theirs }
  for (const [i, line] of mine.entries()) {
    const own = /^(r\d+) \(.*?\): (.*)$/.exec(line)
    const other = /^(r\d+) \(.*?\): (.*)$/.exec(others[i]!)
    if (own?.[1] === undefined || own[1] !== other?.[1] || !names.has(own[1])) continue
    const changed = change(own[2]!, other[2]!)
    if (changed === own[2]) continue
    mine[i] = `${own[1]}: ${changed}`
    others[i] = mine[i]!
  }
  return {
    ours: { ...ours, stdout: mine.join('\n') },
    theirs: { ...theirs, stdout: others.join('\n') },
  }
}
