/** The hosts and archives that a command line names, and which of them go together. pmGetOptions(3) */

/** How a command treats several sources. */
export interface SourceRules {
  /** Several hosts, and several archives as separate sources. */
  readonly many?: boolean
  /** Hosts and archives together. */
  readonly mixed?: boolean
}

/** Takes names of sources one after the other. What does not go together is told in `problems`. */
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

  /** What was named first. */
  get kind(): 'host' | 'archive' | undefined {
    return this.#kind
  }

  /** `given`: the argument that names them. */
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

  /** Archives; one that is named twice counts once. */
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
