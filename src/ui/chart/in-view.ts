/** Which charts are in view: what they draw comes before what nobody sees. */
import { type ReadonlySignal, useSignal } from '@preact/signals'
import type { RefObject } from 'preact'
import { useEffect, useRef } from 'preact/hooks'

/** Whether an element is in view, and the reference it has to get. Until the browser has said so, it counts as seen. */
export function useInView(): readonly [RefObject<HTMLElement | null>, ReadonlySignal<boolean>] {
  const element = useRef<HTMLElement>(null)
  const isSeen = useSignal(true)
  useEffect(() => {
    const observer = new IntersectionObserver((entries) => {
      isSeen.value = entries.at(-1)!.isIntersecting
    })
    observer.observe(element.current!)
    return () => observer.disconnect()
  }, [])
  return [element, isSeen]
}
