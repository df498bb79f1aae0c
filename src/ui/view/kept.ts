/** Views that a browser keeps. Other tabs of it change them too. */
import { type Signal, signal } from '@preact/signals'
import { inStore } from '../storage.ts'
import { readView } from './received.ts'
import type { View } from './view.ts'

/** The part of a browser's storage that is used. */
export type Store = Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>

const VIEWS = 'pcp-ts.views'
const OPENING = 'pcp-ts.opening'

/** What is kept, and what changes it: each change is of what is kept now, whoever has changed it last. */
export class KeptViews {
  readonly #store: () => Store
  /** In the order they were first kept. */
  readonly views: Signal<readonly View[]>
  /** Name of the view that the page opens on; nothing: the overview. */
  readonly opening: Signal<string | undefined>
  /** Why nothing can be kept; what is kept until the page is closed is in `views` alone. */
  #failure: Error | undefined

  /** `store` may throw: browsers that are told to keep nothing do. */
  constructor(store: () => Store) {
    this.#store = store
    this.views = signal<readonly View[]>([])
    this.opening = signal<string | undefined>(undefined)
    this.refresh()
  }

  /** Takes over what another tab has changed, unless there is something here that could not be kept. */
  refresh(): void {
    if (this.#failure !== undefined) return
    this.views.value = this.#read()
    this.opening.value = this.#get(OPENING)
  }

  /** Keeps a view under its name; one of that name is replaced. Throws an Error with a sentence when it is gone with the page. */
  save(view: View): void {
    const { views, at } = this.#find(view.name)
    this.#keep(at < 0 ? [...views, view] : views.with(at, view))
  }

  /** Gives a view another name, that of no other. Throws as `save` does. */
  rename(name: string, wanted: string): void {
    const { views, at } = this.#find(name)
    if (at < 0 || name === wanted) return
    if (views.some((one) => one.name === wanted)) throw new Error(`There is a view ${wanted} already`)
    this.#keep(views.with(at, { ...views[at]!, name: wanted }))
    if (this.opening.value === name) this.openOn(wanted)
  }

  /** Forgets a view. */
  forget(name: string): void {
    this.#keep(this.#now().filter((one) => one.name !== name))
    if (this.opening.value === name) this.openOn(undefined)
  }

  /** Says which view the page opens on. */
  openOn(name: string | undefined): void {
    this.opening.value = name
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
      return Array.isArray(kept) ? kept.flatMap((one) => readView(one) ?? []) : []
    } catch {
      return [] // damaged: nobody can use it any more
    }
  }

  #get(key: string): string | undefined {
    // A failure is reported when something is to be kept.
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
          ? 'This browser has no room for more: forget a view, or save this one as a file. Until then it is gone when the page is closed'
          : 'This browser keeps nothing for this page: what is changed is gone when the page is closed',
        { cause: error },
      )
      throw this.#failure
    }
  }
}
