/** Views saved in this browser. Other tabs may change them too. */
import { type Signal, signal } from '@preact/signals'
import { inStore } from '../storage.ts'
import { BUILT_IN_VIEWS } from './built-in.ts'
import { readView } from './received.ts'
import type { View } from './view.ts'

/** The part of a browser's storage in use. */
export type Store = Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>

const VIEWS = 'pcp-ts.views'
const OPENING = 'pcp-ts.opening'

const isBuiltIn = (name: string): boolean => BUILT_IN_VIEWS.some((view) => view.name === name)

/** A view is recognized as a page, also after changes, by its name. */
function checkName(name: string): void {
  if (isBuiltIn(name)) throw new Error(`${name} is the name of a page; save the view under another name`)
}

/** Saved views. Each change applies to the stored state, which another tab may have changed. */
export class SavedViews {
  readonly #store: () => Store
  /** In the order in which they were first saved. */
  readonly views: Signal<readonly View[]>
  /** Name of the start view; undefined for the overview. */
  readonly startView: Signal<string | undefined>
  /** Why saving failed. Until it succeeds again, changes exist only in `views`, until the page is closed. */
  #failure: Error | undefined

  /** `store` may throw, as it does in browsers that block storage. */
  constructor(store: () => Store) {
    this.#store = store
    this.views = signal<readonly View[]>([])
    this.startView = signal<string | undefined>(undefined)
    this.refresh()
  }

  /** Takes over changes of other tabs, unless there are unsaved changes here. */
  refresh(): void {
    if (this.#failure !== undefined) return
    this.views.value = this.#read()
    this.startView.value = this.#get(OPENING)
  }

  /** Saves a view, replacing one of the same name. Throws an Error with a message for the user if it cannot be stored, or has the name of a page. */
  save(view: View): void {
    checkName(view.name)
    const { views, at } = this.#find(view.name)
    this.#keep(at < 0 ? [...views, view] : views.with(at, view))
  }

  /** Renames a view; the new name must be unused. Throws as `save` does. */
  rename(name: string, wanted: string): void {
    const { views, at } = this.#find(name)
    if (at < 0 || name === wanted) return
    checkName(wanted)
    if (views.some((one) => one.name === wanted)) throw new Error(`A view named ${wanted} already exists`)
    this.#keep(views.with(at, { ...views[at]!, name: wanted }))
    if (this.startView.value === name) this.setStartView(wanted)
  }

  /** Deletes a view. */
  delete(name: string): void {
    this.#keep(this.#now().filter((one) => one.name !== name))
    if (this.startView.value === name) this.setStartView(undefined)
  }

  /** Sets the start view. */
  setStartView(name: string | undefined): void {
    this.startView.value = name
    this.#write(OPENING, name)
  }

  #find(name: string): { readonly views: readonly View[]; readonly at: number } {
    const views = this.#now()
    return { views, at: views.findIndex((one) => one.name === name) }
  }

  #now(): readonly View[] {
    return this.#failure === undefined ? this.#read() : this.views.peek()
  }

  #read(): View[] {
    try {
      const kept: unknown = JSON.parse(this.#get(VIEWS) ?? '[]')
      const views = Array.isArray(kept) ? kept.flatMap((one) => readView(one) ?? []) : []
      // Of earlier versions, which allowed names of pages.
      return views.map((view) => (isBuiltIn(view.name) ? { ...view, name: `${view.name} (saved)` } : view))
    } catch {
      return [] // damaged and therefore useless
    }
  }

  #get(key: string): string | undefined {
    // Failures are reported when something is saved.
    return inStore(this.#store, (store) => store.getItem(key)) ?? undefined
  }

  #keep(views: readonly View[]): void {
    this.views.value = views
    this.#write(VIEWS, JSON.stringify(views))
  }

  #write(key: string, text: string | undefined): void {
    try {
      if (text === undefined) this.#store().removeItem(key)
      else this.#store().setItem(key, text)
      this.#failure = undefined
    } catch (error) {
      const isFull = (error as { readonly name?: unknown } | null)?.name === 'QuotaExceededError'
      this.#failure = new Error(
        isFull
          ? 'Browser storage is full; delete a view or save this one to a file. Otherwise it is lost when the page is closed'
          : 'This browser blocks storage for this page; changes are lost when the page is closed',
        { cause: error },
      )
      throw this.#failure
    }
  }
}
