/** Names of an archive's metrics. docs/formats/archive.md §4.1 */
import { decodeText, encodeText } from '../base/text.ts'
import { isError, type Outcome, PcpError } from '../model/errors.ts'
import { PM_ID_NULL, type Pmid } from '../model/ids.ts'
import { Pmns } from '../pmns/tree.ts'

/** Linear searches before the name space is built, which takes as long as many of these. */
const MAX_SEARCHES = 8

const DOT = 0x2e

/** Collects descriptor records, and builds a name space from them on demand. */
export class MetricNames {
  readonly #views: DataView[] = []
  /** Offset of each record in its view. */
  readonly #records: number[] = []
  #tree: Pmns | undefined
  #searches = 0

  /** Adds a checked descriptor record. */
  add(view: DataView, at: number): void {
    this.#views.push(view)
    this.#records.push(at)
    this.#tree = undefined
  }

  /**
   * The name space. The first of two PMIDs of a name applies, a name with others below it is not a metric, and siblings are in reverse
   * order of their first appearance.
   */
  get tree(): Pmns {
    this.#tree ??= this.#makeTree()
    return this.#tree
  }

  /** As `Pmns.lookup`. */
  lookup(name: string): Outcome<Pmid> {
    if (this.#tree === undefined && this.#searches++ < MAX_SEARCHES) {
      const id = this.#search(encodeText(name))
      if (id !== undefined) return id
    }
    return this.tree.lookup(name)
  }

  /** As `Pmns.traverse`. */
  traverse(name: string): readonly string[] {
    // Most names to traverse are those of single metrics.
    return isError(this.lookup(name)) ? this.tree.traverse(name) : [name]
  }

  /** Returns the PMID of a name if it is certain without the tree. */
  #search(name: Uint8Array): Pmid | undefined {
    if (name.length === 0 || name.includes(0)) return undefined
    let found: Pmid | undefined
    for (let r = 0; r < this.#records.length; r++) {
      const view = this.#views[r]!
      const record = this.#records[r]!
      let at = record + 32
      for (let k = view.getInt32(record + 28); k > 0; k--) {
        const size = view.getInt32(at)
        at += 4
        if (size >= name.length && startsWith(view, at, name)) {
          const next = size > name.length ? view.getUint8(at + name.length) : 0
          if (next === DOT) return undefined
          if (next === 0) found ??= view.getUint32(record + 8)
        }
        at += size
      }
    }
    return found
  }

  #makeTree(): Pmns {
    const inOrder = new Pmns()
    for (let r = 0; r < this.#records.length; r++) {
      const view = this.#views[r]!
      const record = this.#records[r]!
      const id = view.getUint32(record + 8)
      let at = record + 32
      for (let k = view.getInt32(record + 28); k > 0; k--) {
        const size = view.getInt32(at)
        addName(inOrder, nameAt(view, at + 4, size), id)
        at += 4 + size
      }
    }
    // Depth first from the last child to the first, then reversed.
    const leaves: [string, Pmid][] = []
    inOrder.walk('', (name, id) => leaves.push([name, id]))
    const tree = new Pmns()
    for (let i = leaves.length - 1; i >= 0; i--) tree.add(...leaves[i]!)
    return tree
  }
}

function startsWith(view: DataView, at: number, name: Uint8Array): boolean {
  // Names mostly differ at their end.
  for (let i = name.length - 1; i >= 0; i--) if (view.getUint8(at + i) !== name[i]) return false
  return true
}

/** Reads a name, which may end at a NUL. */
function nameAt(view: DataView, at: number, size: number): string {
  const bytes = new Uint8Array(view.buffer, view.byteOffset + at, size)
  const nul = bytes.indexOf(0)
  return decodeText(bytes, 0, nul === -1 ? size : nul)
}

function addName(names: Pmns, name: string, id: Pmid): void {
  try {
    names.add(name, id)
  } catch (error) {
    if (!(error instanceof PcpError)) throw error
    const above = leafAbove(names, name)
    if (above === undefined) return // it already has another PMID, or it has an empty component or no PMID
    names.remove(above)
    addName(names, name, id)
  }
}

/** Returns the metric whose name is a prefix of a longer name. */
function leafAbove(names: Pmns, name: string): string | undefined {
  for (let dot = name.indexOf('.'); dot !== -1; dot = name.indexOf('.', dot + 1)) {
    const id = names.idOf(name.slice(0, dot))
    if (id !== undefined && id !== PM_ID_NULL) return name.slice(0, dot)
  }
  return undefined
}
