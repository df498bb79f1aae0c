/** Merges names of derived metrics with those of a source. docs/reference/derived-metrics.md */
import { PcpError } from '../model/errors.ts'
import type { Child } from '../model/source.ts'

/** Returns the children of a node: first the source's, then further ones of derived metrics. PM_ERR_NAME for an unknown node. */
export async function mergedChildren(
  name: string,
  derived: readonly string[],
  ask: () => Promise<readonly Child[]>,
): Promise<readonly Child[]> {
  const prefix = name === '' ? '' : `${name}.`
  const below = derived.filter((full) => full.startsWith(prefix))
  const isLeaf = derived.includes(name)
  if (below.length === 0 && !isLeaf) return ask()
  const found = await unlessUnknown(ask())
  const known = new Set(found.map((child) => child.name))
  const own: Child[] = []
  for (const full of below) {
    const rest = full.slice(prefix.length)
    const dot = rest.indexOf('.')
    const child = dot < 0 ? rest : rest.slice(0, dot)
    if (known.has(child)) continue
    known.add(child)
    own.push({ name: child, isLeaf: dot < 0 })
  }
  return [...found, ...own]
}

/** Returns the leaves below a node: first the source's, then further derived ones. PM_ERR_NAME for an unknown node. */
export async function mergedTraverse(
  name: string,
  derived: readonly string[],
  ask: () => Promise<readonly string[]>,
): Promise<readonly string[]> {
  const prefix = name === '' ? '' : `${name}.`
  const below = derived.filter((full) => full === name || full.startsWith(prefix))
  if (below.length === 0) return ask()
  const found = await unlessUnknown(ask())
  const known = new Set(found)
  return [...found, ...below.filter((full) => !known.has(full))]
}

async function unlessUnknown<T>(answer: Promise<readonly T[]>): Promise<readonly T[]> {
  try {
    return await answer
  } catch (error) {
    if (error instanceof PcpError && error.code === 'PM_ERR_NAME') return []
    throw error
  }
}
