/** Compares two texts, with a few lines of context around each difference. diff(1) -c */

/** Consecutive lines that are in both texts, or only in one. */
interface Edit {
  readonly kind: ' ' | '-' | '+'
  readonly line: string
}

const AROUND = 3

/** Returns the differences below a heading with the names, or '' without differences. */
export function contextDiff(before: string, after: string, names: readonly [string, string]): string {
  const edits = editsOf(linesOf(before), linesOf(after))
  const hunks = hunksOf(edits)
  if (hunks.length === 0) return ''
  return `*** ${names[0]}\n--- ${names[1]}\n${hunks.map((hunk) => hunkText(edits, hunk)).join('')}`
}

function linesOf(text: string): string[] {
  const lines = text.split('\n')
  if (lines.at(-1) === '') lines.pop()
  return lines
}

/** Finds the longest common subsequence with a table: configurations have a few thousand lines and few differences. */
function editsOf(before: readonly string[], after: readonly string[]): Edit[] {
  let start = 0
  while (start < before.length && start < after.length && before[start] === after[start]) start++
  let end = 0
  const most = Math.min(before.length, after.length) - start
  while (end < most && before[before.length - 1 - end] === after[after.length - 1 - end]) end++
  const [a, b] = [before.slice(start, before.length - end), after.slice(start, after.length - end)]
  const same = (lines: readonly string[]): Edit[] => lines.map((line) => ({ kind: ' ', line }))
  return [...same(before.slice(0, start)), ...between(a, b), ...same(before.slice(before.length - end))]
}

function between(a: readonly string[], b: readonly string[]): Edit[] {
  const width = b.length + 1
  const lengths = new Uint16Array((a.length + 1) * width)
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      const below = lengths[(i + 1) * width + j]!
      const right = lengths[i * width + j + 1]!
      lengths[i * width + j] = a[i] === b[j] ? lengths[(i + 1) * width + j + 1]! + 1 : Math.max(below, right)
    }
  }
  const edits: Edit[] = []
  let [i, j] = [0, 0]
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      edits.push({ kind: ' ', line: a[i++]! })
      j++
    } else if (
      j >= b.length ||
      (i < a.length && lengths[(i + 1) * width + j]! >= lengths[i * width + j + 1]!)
    )
      edits.push({ kind: '-', line: a[i++]! })
    else edits.push({ kind: '+', line: b[j++]! })
  }
  return edits
}

/** Returns ranges of edits with the lines around them; overlapping ranges are joined. */
function hunksOf(edits: readonly Edit[]): [number, number][] {
  const hunks: [number, number][] = []
  for (const [i, { kind }] of edits.entries()) {
    if (kind === ' ') continue
    const from = Math.max(0, i - AROUND)
    const to = Math.min(edits.length, i + AROUND + 1)
    const last = hunks.at(-1)
    if (last !== undefined && from <= last[1]) last[1] = to
    else hunks.push([from, to])
  }
  return hunks
}

function hunkText(edits: readonly Edit[], [from, to]: readonly [number, number]): string {
  const hunk = marked(edits.slice(from, to))
  const half = (gone: '-' | '+', other: '-' | '+'): { range: string; lines: string } => {
    const start = edits.slice(0, from).filter(({ kind }) => kind !== other).length
    const own = hunk.filter(({ kind }) => kind !== other)
    const first = own.length === 0 ? start : start + 1
    const range = own.length <= 1 ? `${first}` : `${first},${start + own.length}`
    const isChanged = own.some(({ kind }) => kind === gone)
    return { range, lines: isChanged ? own.map(({ mark, line }) => `${mark} ${line}\n`).join('') : '' }
  }
  const [old, now] = [half('-', '+'), half('+', '-')]
  return `***************\n*** ${old.range} ****\n${old.lines}--- ${now.range} ----\n${now.lines}`
}

/** Marks lines that replace others as changed. */
function marked(hunk: readonly Edit[]): (Edit & { readonly mark: string })[] {
  const out: (Edit & { readonly mark: string })[] = []
  for (let i = 0; i < hunk.length; ) {
    let end = i
    while (end < hunk.length && (hunk[end]!.kind === ' ') === (hunk[i]!.kind === ' ')) end++
    const run = hunk.slice(i, end)
    const isChange = run.some(({ kind }) => kind === '-') && run.some(({ kind }) => kind === '+')
    out.push(...run.map((edit) => ({ ...edit, mark: isChange ? '!' : edit.kind })))
    i = end
  }
  return out
}
