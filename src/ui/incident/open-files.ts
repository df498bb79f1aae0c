/** Opens what the user drops on the page. */
import { openLocalArchives } from '../data/local-files.ts'
import { openIncidentFile } from './open-incident.ts'

/** Opens an incident file, or archives from their files. Throws an Error for the user if there is neither. */
export async function openFiles(files: readonly File[]): Promise<void> {
  const [first] = files
  if (files.length === 1 && first !== undefined && (await openIncidentFile(first))) return
  await openLocalArchives(files)
}
