/** Rules that raise alerts. docs/reference/alerts.md */

/** How urgent an alert is, most urgent first. */
export const SEVERITIES = ['critical', 'warning', 'notice'] as const
export type Severity = (typeof SEVERITIES)[number]

/** A rule. */
export interface AlertRule {
  /** Name in the rule file, such as `disk.slow`. */
  readonly name: string
  /** A few words for lists. */
  readonly title: string
  readonly severity: Severity
  /** Unit of the value, written after it; '' for a number. */
  readonly unit: string
  /** What it means. */
  readonly help: string
  /** What to look at next. */
  readonly next: string
  /** Page of the chart that shows it, and the chart. */
  readonly look: { readonly page: string; readonly chart: string }
  /** Seconds between evaluations. */
  readonly deltaSec: number
  /** Condition in the language of pmie, which includes how long it has to hold. */
  readonly condition: string
  /** Is the lowest value the worst? */
  readonly isLow?: boolean
}

/** Returns rules as a file for pmie. The action prints instances and values. */
export function rulesText(rules: readonly AlertRule[]): string {
  let text = ''
  let last: number | undefined
  for (const { name, title, help, next, condition, deltaSec } of rules) {
    if (deltaSec !== last) text += `delta = ${deltaSec} sec;\n\n`
    last = deltaSec
    text += `// ${title}. ${help}\n// ${next}\n${name} = ${condition}\n  -> print "${title} " "%i %v ";\n\n`
  }
  return text
}
