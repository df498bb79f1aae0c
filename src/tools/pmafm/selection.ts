/** Selected archives of a folio. pmafm(1) */
import type { Folio, FolioEntry } from './folio.ts'

/** Selected hosts and archives; an entry must match both. An empty list selects all. */
export class Selection {
  readonly #folio: Folio
  hosts: readonly string[] = []
  /** As named in the folio. */
  archives: readonly string[] = []

  constructor(folio: Folio) {
    this.#folio = folio
  }

  /** The selected entries. */
  get entries(): readonly FolioEntry[] {
    return this.#folio.entries.filter(
      ({ host, base }) =>
        (this.hosts.length === 0 || this.hosts.includes(host)) &&
        (this.archives.length === 0 || this.archives.includes(base)),
    )
  }

  /** Selects hosts; calls `unknown` for names not in the folio. */
  chooseHosts(names: readonly string[], unknown: (name: string) => void): void {
    this.hosts = known(names, (name) => this.#folio.entries.find(({ host }) => host === name)?.host, unknown)
  }

  /** Selects archives by number, from 1, or by name. */
  chooseArchives(names: readonly string[], unknown: (name: string) => void): void {
    const { entries } = this.#folio
    const find = (name: string): string | undefined =>
      (
        entries.find(({ base, path }) => base === name || path === name) ??
        (/^\d+$/.test(name) ? entries[Number(name) - 1] : undefined)
      )?.base
    this.archives = known(names, find, unknown)
  }
}

function known(
  names: readonly string[],
  find: (name: string) => string | undefined,
  unknown: (name: string) => void,
): string[] {
  const found: string[] = []
  for (const name of names) {
    const one = find(name)
    if (one === undefined) unknown(name)
    else found.push(one)
  }
  return found
}
