/** Notes of the user on instants and spans of a host, kept in this browser beside saved views. */
import { type Signal, signal } from '@preact/signals'
import { setMarks } from '../marks/marks.ts'
import { inStore } from '../storage.ts'
import type { Frame } from '../time/control.ts'
import { formatTime } from '../time/format.ts'

/** A note. */
export interface Note {
  /** Identifies it among the notes of this browser. */
  readonly id: string
  /** Host that it is about. */
  readonly host: string
  /** Seconds since the epoch. */
  readonly at: number
  /** End of a span. */
  readonly until?: number
  readonly text: string
}

/** The part of a browser's storage in use. */
export type NoteStore = Pick<Storage, 'getItem' | 'setItem'>

/** Longest text of a note, in characters, and most notes: those added first are dropped. */
export const LONGEST_TEXT = 500
export const MOST_NOTES = 500

const STORE = 'pcp-ts.notes'
const OWNER = 'notes'

/** Notes of this browser. Each change applies to the stored state, which another tab may have changed. */
export class Notes {
  readonly #store: () => NoteStore
  /** All notes in the order in which they were added, as they are stored. */
  #added: readonly Note[] = []
  /** All notes, sorted by time. */
  readonly all: Signal<readonly Note[]>

  /** `store` may throw, as it does in browsers that block storage. */
  constructor(store: () => NoteStore) {
    this.#store = store
    this.all = signal([])
    this.refresh()
  }

  /** Takes over changes of other tabs. */
  refresh(): void {
    this.#take(this.#read())
  }

  /** Adds a note, or replaces the one of the same id. Throws an Error with a message for the user if it cannot be stored. */
  save(note: Note): void {
    const saved = { ...note, text: note.text.trim().slice(0, LONGEST_TEXT) }
    const known = this.#now()
    const isKnown = known.some(({ id }) => id === note.id)
    this.#keep(isKnown ? known.map((one) => (one.id === note.id ? saved : one)) : [...known, saved])
  }

  /** Deletes a note. Throws as `save` does. */
  delete(id: string): void {
    this.#keep(this.#now().filter((note) => note.id !== id))
  }

  #take(added: readonly Note[]): void {
    this.#added = added
    this.all.value = [...added].sort((a, b) => a.at - b.at)
  }

  #now(): readonly Note[] {
    return inStore(this.#store, (store) => store.getItem(STORE)) == null ? this.#added : this.#read()
  }

  #read(): readonly Note[] {
    try {
      const kept: unknown = JSON.parse(inStore(this.#store, (store) => store.getItem(STORE)) ?? '[]')
      return Array.isArray(kept) ? kept.flatMap((one) => validNote(one) ?? []).slice(-MOST_NOTES) : []
    } catch {
      return [] // damaged and therefore useless
    }
  }

  #keep(notes: readonly Note[]): void {
    const kept = notes.slice(-MOST_NOTES)
    this.#take(kept)
    try {
      this.#store().setItem(STORE, JSON.stringify(kept))
    } catch (cause) {
      throw new Error('This browser cannot store the note; it is lost when the page is closed', { cause })
    }
  }
}

/** Returns a stored note; undefined if it is damaged. */
export function validNote(from: unknown): Note | undefined {
  const { id, host, at, until, text } = (typeof from === 'object' && from !== null ? from : {}) as Record<
    string,
    unknown
  >
  if (typeof id !== 'string' || typeof host !== 'string' || typeof text !== 'string') return undefined
  if (typeof at !== 'number' || !Number.isFinite(at)) return undefined
  const end = typeof until === 'number' && until > at ? { until } : {}
  return { id, host, at, ...end, text: text.slice(0, LONGEST_TEXT) }
}

/** Returns the notes on a host. */
export function notesOf(all: readonly Note[], host: string | undefined): readonly Note[] {
  return all.filter((note) => note.host === host)
}

/** Returns the notes of a window as lines of text, for programs without marks. */
export function notesText(own: readonly Note[], { from, to }: Frame): string {
  return own
    .filter(({ at, until = at }) => until >= from && at <= to)
    .map(({ at, text }) => `${formatTime(at, 'UTC')} UTC: ${text}`)
    .join('\n')
}

/** Replaces the marks by those of these notes. */
export function markNotes(notes: readonly Note[]): void {
  setMarks(
    OWNER,
    notes.map(({ at, until, text }) => ({
      at,
      kind: 'note',
      text,
      ...(until === undefined ? {} : { until }),
    })),
  )
}
