/** The instant that the page looks at: under the pointer, or pinned by a click. Tables of an instant follow it. */
import { computed, type ReadonlySignal, type Signal, signal } from '@preact/signals'

/** Time of the crosshair in seconds since the epoch; undefined while the pointer is on no chart. */
export const pointed: Signal<number | undefined> = signal(undefined)
/** Time of the pinned instant. */
export const pinned: Signal<number | undefined> = signal(undefined)
/** The instant to show; undefined for the present or the end of the window. */
export const instant: ReadonlySignal<number | undefined> = computed(() => pinned.value ?? pointed.value)

/** Pins an instant; the same one again, or none, releases it. */
export function pin(at: number | undefined): void {
  pinned.value = at === pinned.value ? undefined : at
}
