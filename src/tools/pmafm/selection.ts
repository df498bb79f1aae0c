/** Which archives of a folio commands are for. pmafm(1) */
import type { Folio, FolioEntry } from './folio.ts'

/** Hosts and archives that were chosen; both together hold. None of a kind means all. */
export class Selection {
  readonly #folio: Folio
  /** Chosen hosts. */
  hosts: readonly string[] = []
  /** Chosen archives, as the folio names them. */
  archives: readonly string[] = []

  constructor(folio: Folio) {
    this.#folio = folio
  }

  /** The archives that are meant. */
  get entries(): readonly FolioEntry[] {
    return this.#folio.entries.filter(
      ({ host, base }) =>
        (this.hosts.length === 0 || this.hosts.includes(host)) &&
        (this.archives.length === 0 || this.archives.includes(base)),
    )
  }

  /** Chooses hosts; hears of each that the folio does not have. */
  chooseHosts(names: readonly string[], unknown: (name: string) => void): void {
    this.hosts = known(names, (name) => this.#folio.entries.find(({ host }) => host === name)?.host, unknown)
  }

  /** Chooses archives by number, from 1, or by name. */
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
