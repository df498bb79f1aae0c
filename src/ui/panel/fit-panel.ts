/**
 * Keeps a panel below the time control while the page scrolls, and its end on the screen, however many rows are above
 * it: they wrap, appear and go while it is open. Returns a function that stops it.
 */
export function fitPanel(panel: HTMLElement): () => void {
  const place = (): void => {
    panel.style.setProperty('--above', `${panel.parentElement!.offsetTop}px`)
    panel.style.setProperty('--bar', `${document.querySelector<HTMLElement>('.timebar')!.offsetHeight}px`)
  }
  place()
  const observer = new ResizeObserver(place)
  observer.observe(document.body)
  return () => observer.disconnect()
}
