/** Rules that hold on every screen of the page, as scripts that return what breaks them. */

/** Controls without an accessible name. */
export const NAMELESS: string = `[...document.querySelectorAll('button, summary, select, input:not([hidden]), textarea, dialog, aside, canvas')]
  .filter((element) => {
    const labels = [...(element.labels ?? [])].map((label) => label.textContent).join('')
    return !(element.getAttribute('aria-label') || labels.trim() || element.textContent.trim())
      && element.closest('[role=img], [role=application], [aria-hidden=true]') === null
  })
  .map((element) => element.outerHTML.slice(0, 120))`

/** Labels whose field cannot have the focus of the keyboard. */
export const UNREACHABLE: string = `[...document.querySelectorAll('label')]
  .filter(({ control }) => control !== null && (control.tabIndex < 0 || !control.checkVisibility()))
  .map((label) => label.outerHTML.slice(0, 120))`

/** Headings more than one level below the one before. */
export const SKIPPING: string = `[...document.querySelectorAll('h1, h2, h3, h4, h5, h6')]
  .filter((heading, i, all) => i > 0 && Number(heading.tagName[1]) > Number(all[i - 1].tagName[1]) + 1)
  .map((heading) => heading.outerHTML.slice(0, 120))`

/** Texts with less contrast than WCAG requires: 4.5, or 3 for large text. */
export const FAINT: string = `(() => {
  const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true })
  const channels = (color) => {
    canvas.clearRect(0, 0, 1, 1)
    canvas.fillStyle = color
    canvas.fillRect(0, 0, 1, 1)
    return canvas.getImageData(0, 0, 1, 1).data
  }
  const light = ([r, g, b]) => {
    const [x, y, z] = [r, g, b].map((part) => part / 255).map((part) => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)
    return 0.2126 * x + 0.7152 * y + 0.0722 * z
  }
  const behind = (element) => {
    for (let at = element; at !== null; at = at.parentElement) {
      const color = channels(getComputedStyle(at).backgroundColor)
      if (color[3] === 255) return color
    }
    return [255, 255, 255, 255]
  }
  const found = new Set()
  for (const element of document.querySelectorAll('body *')) {
    const isText = [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim() !== '')
    if (!isText || element.closest('option, script, noscript, .skip') !== null || element.getClientRects().length === 0) continue
    const [a, b] = [light(channels(getComputedStyle(element).color)), light(behind(element))].sort((x, y) => y - x)
    const contrast = (a + 0.05) / (b + 0.05)
    if (contrast < 4.5) found.add(element.className + ' ' + element.tagName + ' ' + contrast.toFixed(2) + ' ' + element.textContent.trim().slice(0, 20))
  }
  return [...found]
})()`

/** Controls smaller than a finger, with width, height and name. A label counts as part of its field, and a pseudo-element as part of its control. */
export const SMALL: string = `[...document.querySelectorAll('button, summary, select, input:not([hidden]), label.button, label.link')]
  .filter((element) => element.checkVisibility() && element.getClientRects().length > 0)
  .flatMap((element) => {
    const { width, height } = (element.closest('label.check') ?? element).getBoundingClientRect()
    // Layout is in units of 1/64 pixel.
    return Math.min(width, height) >= 44 - 1 / 64 ? [] : [[Math.round(width), Math.round(height), element.outerHTML.slice(0, 80)].join(' ')]
  })`

/** Pixels by which the page can be scrolled sideways. */
export const SIDEWAYS: string = 'document.documentElement.scrollWidth - document.documentElement.clientWidth'

/** Texts that leave their card, control or panel, unless they are cut off on purpose. */
export const OUTSIDE: string = `[...document.querySelectorAll('body *')].flatMap((element) => {
  const texts = [...element.childNodes].filter((node) => node.nodeType === 3 && node.textContent.trim() !== '')
  if (texts.length === 0 || !element.checkVisibility() || element.closest('svg, option, .unseen, .skip') !== null) return []
  const range = document.createRange()
  range.setStartBefore(texts[0])
  range.setEndAfter(texts[0])
  const { right, left, width } = range.getBoundingClientRect()
  for (let at = element; at !== null; at = at.parentElement) {
    if (getComputedStyle(at).overflowX !== 'visible') return []
    const box = at.getBoundingClientRect()
    if (at.matches('.card, button, aside, dialog, td, th, select, .notice') && width > 0 && (right > box.right + 1 || left < box.left - 1))
      return [element.textContent.trim().slice(0, 40) + ': ' + Math.round(right - box.right) + ' px outside ' + at.className]
  }
  return []
})`

/** Lines of text that a box without scrolling cuts through; hidden as a whole is on purpose. */
export const SLICED: string = `[...document.querySelectorAll('body *')].flatMap((element) => {
  const texts = [...element.childNodes].filter((node) => node.nodeType === 3 && node.textContent.trim() !== '')
  if (texts.length === 0 || !element.checkVisibility() || element.closest('svg, option, .unseen, .skip') !== null) return []
  const range = document.createRange()
  const lines = texts.flatMap((text) => {
    range.selectNodeContents(text)
    return [...range.getClientRects()]
  })
  for (let at = element; at !== null; at = at.parentElement) {
    const { overflowY } = getComputedStyle(at)
    if (overflowY === 'auto' || overflowY === 'scroll') return []
    if (overflowY === 'visible') continue
    const { top, bottom } = at.getBoundingClientRect()
    const cut = lines.find((line) => (line.top < bottom - 3 && line.bottom > bottom + 3) || (line.top < top - 3 && line.bottom > top + 3))
    if (cut !== undefined) return [element.textContent.trim().slice(0, 40) + ': cut by ' + at.className]
  }
  return []
})`

/** Names of large values that are hidden while the value is not: one of several lines would read as their total. */
export const UNNAMED: string = `[...document.querySelectorAll('.headline small')].flatMap((name) => {
  const { width, top } = name.getBoundingClientRect()
  return width < 20 && top < name.closest('.headline').getBoundingClientRect().bottom ? [name.textContent] : []
})`

/**
 * Values that have no room: those of charts and peaks of cards, which are left out as a whole, and times in fields, which are cut. A peak that
 * names its figure may be left out of a card beside a panel.
 */
export const CROWDED: string = `(() => {
  const isHidden = (value) => {
    const range = document.createRange()
    range.selectNodeContents(value)
    let at = value
    while (getComputedStyle(at).overflowY === 'visible') at = at.parentElement
    return range.getBoundingClientRect().bottom > at.getBoundingClientRect().bottom + 3
  }
  return [
    ...[...document.querySelectorAll('.headline > span, .health-peak')].filter((value) => value.checkVisibility() && isHidden(value))
      .filter((value) => !value.textContent.startsWith('peak of ') || value.closest('.health-card').clientWidth > 200),
    ...[...document.querySelectorAll('.frame input')].filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth),
  ].map((element) => (element.closest('.card')?.getAttribute('aria-label') ?? '') + ' ' + (element.value ?? element.textContent))
})()`

/** Elements with a transition or an animation. */
export const MOVING: string = `[...document.querySelectorAll('body *')].flatMap((element) => {
  const { transitionDuration, animationName } = getComputedStyle(element)
  return parseFloat(transitionDuration) > 0 || animationName !== 'none' ? [element.outerHTML.slice(0, 80)] : []
})`
