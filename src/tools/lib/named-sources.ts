/** The hosts and archives on a command line, and which combinations are allowed. pmGetOptions(3) */

/** The combinations a command allows. */
export interface SourceRules {
  /** Several hosts, and several archives as separate sources. */
  readonly many?: boolean
  /** Hosts and archives together. */
  readonly mixed?: boolean
}

/** Collects names of sources. Errors are added to `problems`. */
export class NamedSources {
  readonly hosts: string[] = []
  /** Without `many` one text with commas. */
  readonly archives: string[] = []
  readonly #rules: SourceRules
  readonly #problems: string[]
  #kind: 'host' | 'archive' | undefined

  constructor(rules: SourceRules, problems: string[]) {
    this.#rules = rules
    this.#problems = problems
  }

  /** The kind of the first source. */
  get kind(): 'host' | 'archive' | undefined {
    return this.#kind
  }

  /** Adds hosts; `given` is the argument for error messages. */
  addHosts(hosts: readonly string[], given: string): void {
    const { many, mixed } = this.#rules
    const tooMany = `too many hosts requested: ${given}`
    if (this.#kind === 'archive' && mixed !== true) this.#problems.push('only one host or archive allowed')
    else if (many !== true && this.hosts.length > 0) this.#problems.push(tooMany)
    else {
      this.#kind ??= 'host'
      this.hosts.push(...hosts)
      if (many !== true && hosts.length > 1) this.#problems.push(tooMany)
    }
  }

  /** Adds archives; duplicates are ignored. */
  addArchives(archives: readonly string[]): void {
    const { many, mixed } = this.#rules
    if (this.#kind === 'host' && mixed !== true) {
      this.#problems.push('only one host or archive allowed')
      return
    }
    this.#kind ??= 'archive'
    for (const archive of archives) if (!this.archives.includes(archive)) this.archives.push(archive)
    if (many !== true) this.archives.splice(0, this.archives.length, this.archives.join(','))
  }
}
