/** Files that are dropped on the page. */
import { askForRest } from './later.tsx'
import { complain } from './page.ts'

/** Takes what is dropped anywhere on the page. */
export function listenForDrops(): void {
  addEventListener('dragover', (event) => {
    event.preventDefault()
    document.body.classList.add('dropping')
  })
  addEventListener('dragleave', (event) => {
    if (event.relatedTarget === null) document.body.classList.remove('dropping')
  })
  addEventListener('drop', (event) => {
    event.preventDefault()
    document.body.classList.remove('dropping')
    const files = [...(event.dataTransfer?.files ?? [])]
    if (files.length === 0) return
    askForRest()
      .then(({ openFiles }) => openFiles(files))
      .catch(complain)
  })
}
