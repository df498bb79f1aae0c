/** Adds the styles of a part that is loaded later, between those of the page and those of narrow screens. */
export function adopt(text: string): void {
  const sheet = new CSSStyleSheet()
  sheet.replaceSync(`@layer lazy{${text}}`)
  document.adoptedStyleSheets.push(sheet)
}
