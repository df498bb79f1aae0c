/** The instant that the page looks at: under the pointer, or pinned by a click. Tables of an instant follow it. */
import { computed, type ReadonlySignal, type Signal, signal } from '@preact/signals'

/** Time of the crosshair under the mouse, in seconds since the epoch; undefined while it is over no chart of lines. */
export const hovered: Signal<number | undefined> = signal(undefined)
/** Time that is read with keys, a finger or in a heat map; charts of lines move their crosshair to it. */
export const reading: Signal<number | undefined> = signal(undefined)
/** Time of the crosshair of all charts. */
export const pointed: ReadonlySignal<number | undefined> = computed(() => reading.value ?? hovered.value)
/** Time of the pinned instant. */
export const pinned: Signal<number | undefined> = signal(undefined)
/** The instant to show; undefined for the present or the end of the window. */
export const instant: ReadonlySignal<number | undefined> = computed(() => pinned.value ?? pointed.value)

/** Pins an instant; the same one again, or none, releases it. */
export function pin(at: number | undefined): void {
  pinned.value = at === pinned.value ? undefined : at
}
