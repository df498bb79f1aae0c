/**
 * Runs in a page: the least contrast of visible text with its ground, and texts below 4.5. WCAG 2.2, 1.4.3.
 * A ground with an image counts as its colour.
 */
;(() => {
  const parse = (text) => {
    const [red = 0, green = 0, blue = 0, alpha = 1] = (text.match(/[\d.]+/g) ?? []).map(Number)
    return [red, green, blue, alpha]
  }
  const over = ([r, g, b, a], below) => [...[r, g, b].map((part, i) => part * a + below[i] * (1 - a)), 1]
  const groundOf = (element) => {
    if (element === null) return [255, 255, 255, 1]
    const colour = parse(getComputedStyle(element).backgroundColor)
    return colour[3] === 1 ? colour : over(colour, groundOf(element.parentElement))
  }
  const light = (colour) => {
    const [red, green, blue] = colour
      .slice(0, 3)
      .map((part) => part / 255)
      .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
  }
  let least = 21
  const low = new Set()
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
    const element = node.parentElement
    const text = node.textContent.trim()
    if (text === '' || !element.checkVisibility({ opacityProperty: true, visibilityProperty: true })) continue
    const { color, clip } = getComputedStyle(element)
    if (clip === 'rect(0px, 0px, 0px, 0px)') continue
    const ground = groundOf(element)
    const [high, deep] = [light(over(parse(color), ground)), light(ground)].sort((a, b) => b - a)
    const contrast = (high + 0.05) / (deep + 0.05)
    least = Math.min(least, contrast)
    if (contrast < 4.5)
      low.add(
        `${contrast.toFixed(2)}: ${color} on ${ground.slice(0, 3)}: .${element.className}: ${text.slice(0, 30)}`,
      )
  }
  return { least, low: [...low].slice(0, 10) }
})()
