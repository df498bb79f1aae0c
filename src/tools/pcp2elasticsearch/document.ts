/** The document of one sample: names of metrics as nested objects, instances as a list in the object above the metric. */

type Json = string | number | Json[] | Fields
interface Fields {
  [key: string]: Json
}

/** A document that is filled value by value. */
export class SampleDocument {
  readonly #root: Fields
  /** Instances by the object that contains their list, and name. */
  readonly #instances = new Map<Fields, Map<string, Fields>>()
  #isEmpty = true

  /** `head`: fields that do not come from metrics. */
  constructor(head: Readonly<Record<string, string | number>>) {
    this.#root = Object.assign(fields(), head)
  }

  /** Whether no value was added. */
  get isEmpty(): boolean {
    return this.#isEmpty
  }

  /** Adds a value of a metric without instances, with the text of its labels if any. */
  add(metric: string, value: string | number, labels?: string): void {
    const { parent, name } = this.#placeOf(metric)
    parent[name] = labels === undefined ? value : [value, labels]
    this.#isEmpty = false
  }

  /** Adds a value of an instance. Metrics with the same parent share their instances' entries. */
  addOf(metric: string, instance: string, value: string | number, labels?: string): void {
    const { parent, name } = this.#placeOf(metric)
    const entry = this.#entryOf(parent, instance)
    entry[name] = value
    if (labels !== undefined) entry['@labels'] = labels
    this.#isEmpty = false
  }

  /** Formats the document. */
  json(): string {
    return JSON.stringify(this.#root)
  }

  /** Returns the object of a metric's parent. A derived metric below another metric keeps the rest of its name. */
  #placeOf(metric: string): { readonly parent: Fields; readonly name: string } {
    const parts = metric.split('.')
    let parent = this.#root
    for (let i = 0; i < parts.length - 1; i++) {
      const below = parent[parts[i]!]
      if (below !== undefined && (typeof below !== 'object' || Array.isArray(below)))
        return { parent, name: parts.slice(i).join('.') }
      const child = below ?? fields()
      parent[parts[i]!] = child
      parent = child
    }
    return { parent, name: parts.at(-1)! }
  }

  #entryOf(parent: Fields, instance: string): Fields {
    const known = this.#instances.get(parent) ?? new Map<string, Fields>()
    this.#instances.set(parent, known)
    const entry = known.get(instance) ?? Object.assign(fields(), { '@id': instance })
    if (!known.has(instance)) {
      known.set(instance, entry)
      parent['@instances'] = [...known.values()]
    }
    return entry
  }
}

/** Makes an object without inherited members, because `constructor` may be part of a metric's name. */
function fields(): Fields {
  return Object.create(null) as Fields
}
