/** Text as Markdown shows it unchanged, in one line, in a cell of a table too. */
export const plain = (text) =>
  text
    .replace(/[\\`*_{}[\]<>|~]/g, (char) => `&#${char.charCodeAt(0)};`)
    .replace(/\s+/g, ' ')
    .trim()

/** Head of a page with tables of terms and their texts: how the theme shows them. */
export const ROWS = '---\npageClass: rows\n---\n\n'
